// SPDX-License-Identifier: Apache-2.0

import YKOATH

extension ImportSource {
    /// A kind of file that accounts are imported from: its name, its plain and encrypted forms, and a note.
    package struct Format {
        package let name: String
        package let plain: String?
        package let encrypted: String?
        package var note: String?
    }

    /// All of them, in the order in which they are listed.
    package static var formats: [Format] {
        [
            Format(name: "URIs", plain: "lines of otpauth://", encrypted: nil),
            Format(
                name: "Google Authenticator", plain: "otpauth-migration://, as text or picture", encrypted: nil,
                note: "all QR codes of an export"),
            Format(name: "QR codes", plain: "PNG, JPEG", encrypted: nil, note: "light on dark too"),
            Format(
                name: "PSKC (RFC 6030)", plain: "XML",
                encrypted: "XML with a passphrase or a pre-shared key (AES-CBC, AES key wrapping)"),
        ]
            + AuthenticatorExport.formats.sorted { $0.name.lowercased() < $1.name.lowercased() }.map {
                Format(name: $0.name, plain: $0.plain, encrypted: $0.encrypted, note: $0.note)
            }
    }
}
