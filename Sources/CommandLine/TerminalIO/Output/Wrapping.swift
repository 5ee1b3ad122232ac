// SPDX-License-Identifier: Apache-2.0

extension [String] {
    /// Prose among the results, wrapped between words on a terminal.
    package var asProse: [String] { Terminal.resultColumns.map { width in flatMap { $0.wrapped(to: width) } } ?? self }
}

extension String {
    /// Returns each line of the text wrapped between words at `width` columns.
    func wrappedLines(to width: Int) -> String {
        split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { String($0).wrapped(to: width) }.joined(separator: "\n")
    }

    /// Returns the words of the text in lines of at most `width` columns, none of which is indented. Long words and
    /// commands are never broken.
    package func filled(to width: Int) -> [String] {
        var lines: [String] = []
        for word in units() {
            if let line = lines.last, line.columns + 1 + String(word).columns <= width {
                lines[lines.count - 1] = line + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// Returns the text wrapped between words at `width` columns. Continuation lines are aligned with the last column
    /// of a table, with the text after an arrow, or indented slightly. Long words and commands are never broken.
    package func wrapped(to width: Int) -> [String] {
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

    /// The parts between which the line may be broken: its words, and each command as a whole. A command is in
    /// quotation marks, or follows an arrow or a colon and ends with the clause.
    private func units() -> [Substring] {
        let words = split(separator: " ", omittingEmptySubsequences: false)
        var units: [Substring] = []
        var end: Set<Character>?
        for word in words {
            let before = units.last
            if end != nil {
                units[units.count - 1] += " " + word
            } else {
                units.append(word)
                end = Self.end(ofCommandWith: word, behind: before)
            }
            // The sentence continues with a comma after the quotation mark.
            let last = end == Self.quote ? word.last(where: { !",.;:)".contains($0) }) : word.last
            if let last, end?.contains(last) == true { end = nil }
        }
        return units
    }

    private static let quote: Set<Character> = ["'"]

    /// The characters that end the command that a word begins; `nil` if it begins none.
    private static func end(ofCommandWith word: Substring, behind before: Substring?) -> Set<Character>? {
        let start = word.drop { $0 == "(" }
        if start.first == "'", commands.contains(String(start.dropFirst())) { return quote }
        guard before == "->" || before?.last == ":", commands.contains(String(word)) || word.hasPrefix("--") else {
            return nil
        }
        return [",", ";"]
    }

    /// The programs whose command lines messages mention.
    private static let commands: Set = [
        "ykit", "sudo", "docker", "podman", "chmod", "ssh-keygen", "ssh-add", "pcscd", "systemctl", "usermod",
    ]

    /// The indentation of continuation lines: after the arrow, or after the last double space in the first half of the
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
