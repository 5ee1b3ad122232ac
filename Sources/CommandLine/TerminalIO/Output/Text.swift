// SPDX-License-Identifier: Apache-2.0

package import Synchronization
package import YKInteraction
import YKWire

extension String {
    /// Returns the text padded with spaces to `width` columns.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }

    /// The text with control characters and direction overrides made visible, since text from a key or a file must not
    /// control the terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isHazardous) else { return self }
        var out = ""
        for scalar in unicodeScalars {
            if scalar.isHazardous {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}

/// The remaining retries of a PIN or password, in words.
package enum Tries {
    /// For tables: "1 try left", "2 of 3 tries left", or "blocked".
    package static func left(_ count: Int, of total: Int? = nil) -> String {
        if count == 0 { return "blocked" }
        return "\(count)" + (total.map { " of \($0)" } ?? "")
            + (count == 1 && total == nil ? " try left" : " tries left")
    }

    /// For prompts: "the last try" or "3 tries left".
    package static func next(_ count: Int) -> String { count == 1 ? "the last try" : "\(count) tries left" }

    /// For sentences: "one try is left" or "3 tries are left".
    package static func areLeft(_ count: Int) -> String { count == 1 ? "one try is left" : "\(count) tries are left" }
}

/// Bold, gray and color in the program's own output. Lines mark them with noncharacters; a styled terminal gets escape
/// sequences instead, every other output gets nothing. An escape character in a line is therefore always foreign and
/// made visible, and so are such noncharacters in foreign text.
package enum Style: UInt32, CaseIterable {
    case bold = 0xFDD0
    case dim, red, yellow, green, whiteOnBlack, end

    /// The value of --color.
    package static let chosen = Mutex<ColorChoice?>(nil)

    /// Whether output is styled: as `--color` says, or else on a terminal unless NO_COLOR is set (no-color.org) or TERM
    /// is `dumb`.
    package static func isWanted(
        _ choice: ColorChoice? = chosen.withLock { $0 }, isTerminal: Bool, _ variables: EnvironmentVariables
    ) -> Bool {
        switch choice ?? .auto {
        case .always: true
        case .never: false
        case .auto: isTerminal && variables["NO_COLOR"] == nil && variables["TERM"] != "dumb"
        }
    }

    /// Select Graphic Rendition (ECMA-48 §8.3.117).
    package var sequence: String {
        switch self {
        case .bold: "\u{1B}[1m"
        case .dim: "\u{1B}[2m"
        case .red: "\u{1B}[31m"
        case .yellow: "\u{1B}[33m"
        case .green: "\u{1B}[32m"
        case .whiteOnBlack: "\u{1B}[97;40m"
        case .end: "\u{1B}[0m"
        }
    }

    package var mark: String { Unicode.Scalar(rawValue).map { String(Character($0)) } ?? "" }

    /// The text in this style.
    package func around(_ text: String) -> String { mark + text + Style.end.mark }
}

extension String {
    /// Returns the text for a terminal or file: line breaks and tabs are kept, styles become escape sequences if
    /// wanted, and everything else that would control a terminal is made visible.
    package func shown(styled: Bool) -> String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return self }
        var out = ""
        for scalar in unicodeScalars {
            if let style = Style(rawValue: scalar.value) {
                if styled { out += style.sequence }
            } else if scalar.isHazardous, scalar != "\n", scalar != "\t" {
                out += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }

    /// Whether the bytes are UTF-8 without control characters.
    static func isShowable(_ bytes: [UInt8]) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.isHazardous && $0 != "\n" && $0 != "\t" && $0 != "\r" }
    }

    /// The text as one word of a POSIX shell, in quotes if it has a character that the shell interprets.
    package var shellQuoted: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "_@%+=:,./-".utf8.contains(byte)
                }
            }
        return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}

/// A day of the Gregorian calendar in ISO 8601 notation.
package enum Day {
    /// The day of a time in seconds since 1970, in UTC.
    package static func text(_ seconds: Int64) -> String { UTCDate(seconds: seconds).description }
}
