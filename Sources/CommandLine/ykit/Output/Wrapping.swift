// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Returns the text wrapped between words at `width` columns. Continuation lines are aligned with the last column
    /// of a table, or indented slightly. Text to be typed, after an arrow, and long words are never broken.
    func wrapped(to width: Int) -> [String] {
        let isWhole = ["\n", "-> "].contains { contains($0) }
        guard width >= 30, !isWhole, columns > width else { return [self] }
        let words = split(separator: " ", omittingEmptySubsequences: false)
        let indent = hang(words, width)
        var lines: [String] = []
        var line = ""
        var isBegun = false
        for (index, word) in words.enumerated() {
            let next = index == 0 ? String(word) : line + " " + word
            if next.columns > width, isBegun, !word.isEmpty {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line = next
                isBegun = isBegun || next.columns > indent
            }
        }
        return lines + [line]
    }

    /// The indentation of continuation lines: after the last double space in the first half of the line.
    private func hang(_ words: [Substring], _ width: Int) -> Int {
        var place = 0
        var found = 0
        var isBehindBlank = false
        for word in words {
            if !word.isEmpty, isBehindBlank, place <= width / 2 { found = place }
            isBehindBlank = word.isEmpty
            place += String(word).columns + 1
        }
        return found == 0 ? 2 : found
    }
}
