// SPDX-License-Identifier: Apache-2.0

// The standard library has both for any kind of text. There the first call of a process searches the conformances of the
// whole program, which takes longer than everything else that a short verb does.

extension String {
    /// Whether a text stands somewhere in it, compared byte by byte.
    package func contains(_ part: String) -> Bool {
        let (bytes, wanted) = (Array(utf8), Array(part.utf8))
        guard wanted.count <= bytes.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}

extension [String] {
    /// The texts one after the other, with a separator between two of them.
    package func joined(separator: String = "") -> String {
        var text = first ?? ""
        for part in dropFirst() {
            text += separator
            text += part
        }
        return text
    }
}
