// SPDX-License-Identifier: Apache-2.0

extension String {
    /// Returns the text wrapped between words at `width` columns. Continuation lines are aligned with the last column
    /// of a table, with the text behind an arrow, or indented slightly. Long words, and commands behind an arrow, are
    /// never broken.
    func wrapped(to width: Int) -> [String] {
        guard width >= 30, !contains("\n"), columns > width else { return [self] }
        let words = units()
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

    /// The parts of the line between which it may be broken: its words, and behind an arrow each command as a whole.
    private func units() -> [Substring] {
        let words = split(separator: " ", omittingEmptySubsequences: false)
        guard words.contains("->") else { return words }
        var units: [Substring] = []
        var isCommand = false
        for word in words {
            let before = units.last
            if isCommand {
                units[units.count - 1] += " " + word
            } else {
                units.append(word)
                isCommand = ["sudo", "ykit"].contains(word) && (before == "->" || before?.last == ":")
            }
            if let last = word.last, ",;".contains(last) { isCommand = false }
        }
        return units
    }

    /// The indentation of continuation lines: behind the arrow, or after the last double space in the first half of the
    /// line.
    private func hang(_ words: [Substring], _ width: Int) -> Int {
        if let arrow = words.firstIndex(of: "->") {
            return words[...arrow].reduce(0) { $0 + String($1).columns + 1 }
        }
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
