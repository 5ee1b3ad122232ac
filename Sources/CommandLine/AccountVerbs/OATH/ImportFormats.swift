// SPDX-License-Identifier: Apache-2.0

package import Verbs
import YKImport

extension ImportFormats {
    /// All of them, in the order in which they are listed.
    package static func all() -> [Row] {
        let others: [Row] = [
            ("URIs", "lines of otpauth://", nil, nil),
            ("Google Authenticator", "otpauth-migration://, as text or picture", nil, "all QR codes of an export"),
            ("QR codes", "PNG, JPEG", nil, "light on dark too"),
            ("PSKC (RFC 6030)", "XML", "XML with a passphrase or a pre-shared key (AES-CBC, AES key wrapping)", nil),
        ]
        let exports = AuthenticatorExport.formats.sorted { $0.name.lowercased() < $1.name.lowercased() }
        return others + exports.map { ($0.name, $0.plain, $0.encrypted, $0.note) }
    }
}
