// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The names of an option on the line.
package struct Names: ExpressibleByArrayLiteral {
    /// One name.
    package enum Name {
        /// Two dashes and the property's name, with its words separated by dashes.
        case long
        /// A dash and the property's first letter.
        case short
        /// Two dashes and a word.
        case customLong(String)
        /// A dash and a letter.
        case customShort(Character)
    }

    private let names: [Name]

    package init(arrayLiteral names: Name...) { self.names = names }

    /// Two dashes and the property's name.
    package static var long: Names { [.long] }
    /// A dash and the property's first letter.
    package static var short: Names { [.short] }
    /// Both of these.
    package static var shortAndLong: Names { [.long, .short] }
    /// Two dashes and a word.
    package static func customLong(_ word: String) -> Names { [.customLong(word)] }
    /// A dash and a letter.
    package static func customShort(_ letter: Character) -> Names { [.customShort(letter)] }

    /// The names on the command line for a property of this name.
    package func words(for property: String) -> [String] {
        names.map { name in
            switch name {
            case .long: "--" + Self.dashed(property)
            case .short: "-" + String(property.prefix(1))
            case .customLong(let word): "--" + word
            case .customShort(let letter): "-\(letter)"
            }
        }
    }

    /// The names for ArgumentParser.
    var parsed: NameSpecification {
        NameSpecification(
            names.map { name in
                switch name {
                case .long: .long
                case .short: .short
                case .customLong(let word): .customLong(word)
                case .customShort(let letter): .customShort(letter)
                }
            })
    }

    /// The property's name in lower case with a dash before each word except the first; abbreviations stay together, as
    /// in `rpID`: `rp-id`.
    private static func dashed(_ property: String) -> String {
        let letters = Array(property.utf8)
        var text: [UInt8] = []
        for (index, letter) in letters.enumerated() {
            let isCapital = isCapital(letter)
            if isCapital, index > 0 {
                let isNextSmall = index + 1 < letters.count && !Self.isCapital(letters[index + 1])
                if !Self.isCapital(letters[index - 1]) || isNextSmall { text.append(UInt8(ascii: "-")) }
            }
            text.append(isCapital ? letter | 0x20 : letter)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isCapital(_ letter: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) }
}
