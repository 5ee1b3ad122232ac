// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Help as it is shown: what belongs to the verb alone, the global options by name, and explained once, in the help of
/// ykit itself.
enum HelpText {
    private static let title = "GLOBAL OPTIONS:"

    /// The text of ArgumentParser, arranged for a terminal of this width.
    static func arranged(_ text: String, columns: Int) -> String {
        var parts = sections(text)
        if let index = parts.firstIndex(where: { $0.hasPrefix(title) }) {
            parts.remove(at: index)
            parts.append(title + "\n" + names(columns) + "\n  'ykit --help' explains them.")
        } else if text.hasPrefix("OVERVIEW: " + Ykit.configuration.abstract),
            let index = parts.firstIndex(where: { $0.hasPrefix("SUBCOMMANDS:") })
        {
            parts.insert(explained(columns), at: index)
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

    private static func explained(_ columns: Int) -> String {
        let all = sections(GlobalOptions.helpMessage(columns: columns)).first { $0.hasPrefix("OPTIONS:") } ?? ""
        let lines = all.split(separator: "\n").dropFirst().filter { !$0.contains(" -h, --help ") }
        return ([Substring(title)] + lines).joined(separator: "\n")
    }

    /// The names of the options, as many on a line as fit.
    private static func names(_ columns: Int) -> String {
        var lines = [" "]
        for option in explained(columns).split(separator: "\n").filter({ $0.hasPrefix("  --") }) {
            let name = option.split(separator: " ")[0]
            if let line = lines.last, line.count + name.count + 1 > columns, line != " " { lines.append(" ") }
            lines[lines.count - 1] += " " + name
        }
        return lines.joined(separator: "\n")
    }
}
