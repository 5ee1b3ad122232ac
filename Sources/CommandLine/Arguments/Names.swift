// SPDX-License-Identifier: Apache-2.0

/// The names of an option or a command as they are typed, and the name of an option's value in help: `--rp-id <id>`, or
/// `-f`.
package struct Names: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, Sendable {
    package let words: [String]
    /// The name of the value in help; by default the option's name without dashes. For `file`, the shell completes file
    /// names.
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

    /// What the shell completes, as implied by the name of the value.
    var completion: CompletionKind? { value == "file" ? .file : nil }

    /// The words that a flag and its `--no-` counterpart pass to the declaration.
    package static let (yes, no) = ("yes", "no")
}
