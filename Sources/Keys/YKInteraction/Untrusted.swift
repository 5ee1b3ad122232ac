// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Text that another machine or program chose, for a question, a notification or a line of a log: the only place that
/// makes it fit to be shown.
///
/// The result is one line of at most ``limit`` bytes, cut with "…". Runs of blanks are one space, blanks at the ends are
/// removed, controls and invisible characters are written as `\u{…}`, and `'` and `\` get a backslash. A sentence names
/// what matters first (the site, the host, the key) and such text after it, so that nothing in the text can pass for it:
/// `"create a credential at \(Untrusted.site(id)), for \(Untrusted.name(user))"`.
package enum Untrusted {
    /// The longest text that is shown, in bytes: as long as the names that a key stores (CTAP 2.2 §6.1.2).
    package static let limit = 64

    /// A name in quotes: `'alice'`. Of a long one, the beginning is shown.
    package static func name(_ text: String) -> String { "'" + cut(pieces(of: text), fromEnd: false) + "'" }

    /// A name without quotes, such as the version of a program or a line of its output.
    package static func word(_ text: String, limit: Int = limit) -> String {
        cut(pieces(of: text), fromEnd: false, limit: limit)
    }

    /// The identifier of a relying party, or the name of a host, without quotes. Of a long one, the end is shown, which
    /// says whose it is.
    package static func site(_ text: String) -> String { cut(pieces(of: text), fromEnd: true) }

    /// The characters as they are shown. No more are read than can be shown at either end.
    private static func pieces(of text: String) -> [String] {
        let bytes = text.utf8.count
        guard bytes > 16 * limit else { return shown(text) }
        let (first, last) = (text.utf8.prefix(8 * limit), text.utf8.suffix(8 * limit))
        return shown(String(decoding: first, as: UTF8.self)) + shown(String(decoding: last, as: UTF8.self))
    }

    private static func shown(_ text: String) -> [String] {
        var pieces: [String] = []
        var isBlank = true
        for character in text {
            if character.unicodeScalars.allSatisfy(\.isBlank) {
                if !isBlank { pieces.append(" ") }
                isBlank = true
                continue
            }
            isBlank = false
            pieces.append(character.unicodeScalars.reduce(into: "") { $0 += $1.piece })
        }
        if pieces.last == " " { pieces.removeLast() }
        return pieces
    }

    private static func cut(_ pieces: [String], fromEnd: Bool, limit: Int = limit) -> String {
        guard pieces.reduce(0, { $0 + $1.utf8.count }) > limit else { return pieces.joined() }
        var rest = limit - "…".utf8.count
        let kept = (fromEnd ? pieces.reversed() : pieces).prefix { piece in
            rest -= piece.utf8.count
            return rest >= 0
        }
        return fromEnd ? "…" + kept.reversed().joined() : kept.joined() + "…"
    }
}

extension Unicode.Scalar {
    /// Whether it looks like a blank: white space, and letters and symbols without a shape.
    fileprivate var isBlank: Bool {
        properties.isWhitespace || [0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0].contains(value)
    }

    /// How it is shown in a name.
    fileprivate var piece: String {
        if isHazardous { return "\\u{\(String(value, radix: 16))}" }
        return self == "'" || self == "\\" ? "\\\(self)" : String(Character(self))
    }
}
