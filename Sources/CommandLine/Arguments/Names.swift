// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The words that name an option, as they are typed: `--rp-id`, or `-f`.
package struct Names: ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, Sendable {
    package let words: [String]

    package init(stringLiteral word: String) { words = [word] }

    package init(arrayLiteral words: String...) { self.words = words }

    /// The first name of more than one letter, or else the first one, without dashes.
    package var plain: String { Self.plain(words.first { $0.hasPrefix("--") } ?? words.first ?? "") }

    private static func plain(_ word: String) -> String { String(word.drop { $0 == "-" }) }

    /// The names for ArgumentParser.
    var parsed: NameSpecification {
        NameSpecification(
            words.map { word in
                word.hasPrefix("--") ? .customLong(Self.plain(word)) : .customShort(word.last ?? "-")
            })
    }
}
