// SPDX-License-Identifier: Apache-2.0

/// The words that name an option, as they are typed, and what help calls its value: `--rp-id <id>`, or `-f`.
package struct Names: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, Sendable {
    package let words: [String]
    /// What help calls the value; by default the name without dashes. The shell completes a `file`.
    package let value: String?

    package init(stringLiteral word: String) { self.init([word]) }

    package init(arrayLiteral words: String...) { self.init(words) }

    private init(_ words: [String]) {
        var value: String?
        self.words = words.map { word in
            guard let space = word.utf8.firstIndex(of: UInt8(ascii: " ")) else { return word }
            value = String(Substring(word.utf8[space...].dropFirst(2).dropLast()))
            return String(word[..<space])
        }
        self.value = value
    }

    /// The first name of more than one letter, or else the first one.
    var preferred: String { words.first { $0.hasPrefix("--") } ?? words.first ?? "" }

    /// The preferred name without dashes.
    package var plain: String { Self.plain(preferred) }

    private static func plain(_ word: String) -> String { String(word.drop { $0 == "-" }) }

    /// What the shell completes, as far as the name of the value tells.
    var completion: CompletionKind? { value == "file" ? .file : nil }

    /// What a flag that stands on the line gives to its declaration, and what its `--no-` counterpart gives.
    package static let (yes, no) = ("yes", "no")
}
