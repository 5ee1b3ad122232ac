// SPDX-License-Identifier: Apache-2.0

/// Suggests a known word for a misspelled one.
package enum Spelling {
    /// Returns the known word with the same prefix, or else the nearest one: at most one edit away for words of fewer
    /// than six letters, at most two otherwise.
    package static func nearest(_ word: String, among known: [String]) -> String? {
        guard word.utf8.count <= 32 else { return nil }
        let beginning = known.filter { word.count >= 2 && $0.hasPrefix(word) }
        if let only = beginning.first { return only }
        let most = word.count < 6 ? 1 : 2
        return known.map { (word: $0, slips: slips(Array(word), Array($0))) }
            .filter { $0.slips <= most }
            .min { $0.slips < $1.slips }?.word
    }

    /// The number of letters omitted, inserted, replaced or swapped with a neighbor (optimal string alignment
    /// distance).
    private static func slips(_ one: [Character], _ other: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for (row, letter) in one.enumerated() {
            var current = [row + 1]
            for (column, wanted) in other.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == wanted ? 0 : 1))
                if row > 0, column > 0, letter == other[column - 1], one[row - 1] == wanted {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
