// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKKeys
import YKWire

/// What `ykit oath import` reads, as `ykit help formats` and the OATH article list it.
package enum ImportFormats {
    /// The topic, wrapped at `columns` columns.
    static func text(columns: Int) -> String {
        let entries = ImportSource.formats.flatMap { row in
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
            + ImportSource.formats.map {
                "| \($0.name) | \($0.plain ?? "–") | \($0.encrypted ?? "–") | \($0.note ?? "") |"
            })
            .joined(separator: "\n")
    }
}
