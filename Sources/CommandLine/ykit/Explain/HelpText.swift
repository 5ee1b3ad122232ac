// SPDX-License-Identifier: Apache-2.0

import Arguments

/// The help text: the verb's own options in full, and the global options by name only; 'ykit help options' explains
/// them.
enum HelpText {
    private static let title = "GLOBAL OPTIONS:"

    /// Arranges the text of ArgumentParser for a terminal of this width.
    static func arranged(_ text: String, columns: Int) -> String {
        if text.hasPrefix("OVERVIEW: " + Ykit.about.abstract) { return FirstScreen.text }
        var parts = sections(text)
        if let index = parts.firstIndex(where: { $0.hasPrefix(title) }) {
            parts.remove(at: index)
            parts.append(title + "\n" + names(columns) + "\n  'ykit help options' explains them.")
        }
        return parts.joined(separator: "\n\n")
    }

    private static func sections(_ text: String) -> [String] {
        var parts: [String] = []
        var lines: [Substring] = []
        for line: Substring in text.split(separator: "\n", omittingEmptySubsequences: false) + [Substring()] {
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                parts.append(lines.joined(separator: "\n"))
                lines = []
            }
        }
        return parts
    }

    /// The global options with their help.
    static func explained(_ columns: Int) -> String {
        let all =
            sections(WholeParser.help(of: GlobalOptions.self, columns: columns)).first { $0.hasPrefix("OPTIONS:") }
            ?? ""
        return all.split(separator: "\n").dropFirst().filter { !$0.contains(" -h, --help ") }.joined(separator: "\n")
    }

    /// The option names, as many per line as fit.
    private static func names(_ columns: Int) -> String {
        var lines = [" "]
        for option in explained(columns).split(separator: "\n").filter({ $0.hasPrefix("  -") }) {
            guard let name = option.split(separator: " ").first(where: { $0.hasPrefix("--") }) else { continue }
            if let line = lines.last, line.count + name.count + 1 > columns, line != " " { lines.append(" ") }
            lines[lines.count - 1] += " " + name
        }
        return lines.joined(separator: "\n")
    }
}
