// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKOATH
import YKWire

/// What `ykit oath import` reads, as `ykit help formats` and the OATH article list it.
package enum ImportFormats {
    /// A kind of file: its name, its plain and encrypted forms, and a note.
    struct Row {
        let name: String
        let plain: String?
        let encrypted: String?
        var note: String?
    }

    static var rows: [Row] {
        [
            Row(name: "URIs", plain: "lines of otpauth://", encrypted: nil),
            Row(
                name: "Google Authenticator", plain: "otpauth-migration://, as text or picture", encrypted: nil,
                note: "all QR codes of an export"),
            Row(name: "QR codes", plain: "PNG, JPEG", encrypted: nil, note: "light on dark too"),
            Row(
                name: "PSKC (RFC 6030)", plain: "XML",
                encrypted: "XML with a passphrase or a pre-shared key (AES-CBC, AES key wrapping)"),
        ]
            + AuthenticatorExport.formats.sorted { $0.name.lowercased() < $1.name.lowercased() }.map {
                Row(name: $0.name, plain: $0.plain, encrypted: $0.encrypted, note: $0.note)
            }
    }

    /// The topic, wrapped at `columns` columns.
    static func text(columns: Int) -> String {
        let entries = rows.flatMap { row in
            let forms = [row.plain, row.encrypted.map { "encrypted: " + $0 }, row.note].compactMap { $0 }
            return ["  " + row.name] + forms.flatMap { ("      " + $0).wrapped(to: columns) }
        }
        let closing = """
            The content determines the format; the name of a file does not matter. A plain export may be in a ZIP \
            archive; text is UTF-8, UTF-16 or Windows-1252. The password of an encrypted file is given with \
            --file-password-stdin, --file-password-fd N or YKIT_FILE_PASSWORD, or at the prompt.
            """
        return (["Files that 'ykit oath import' reads:", ""] + entries + [""] + closing.wrapped(to: columns))
            .joined(separator: "\n")
    }

    /// The table of the OATH article, in Markdown.
    package static var markdown: String {
        (["| program | plain | encrypted | note |", "|---|---|---|---|"]
            + rows.map { "| \($0.name) | \($0.plain ?? "–") | \($0.encrypted ?? "–") | \($0.note ?? "") |" })
            .joined(separator: "\n")
    }
}
