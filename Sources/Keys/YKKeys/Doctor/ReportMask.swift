// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement

/// Removes identifying data from a report: serial numbers, user names and home folders.
package struct ReportMask: Sendable {
    private let words: [(String, String)]

    /// Collects what identifies the user of a machine.
    ///
    /// - Parameters:
    ///   - user: The name of the user.
    ///   - home: The path of the user's folder.
    package init(_ facts: MachineFacts, user: String, home: String?) {
        var words: [(String, String)] = []
        func hide(_ word: String?, _ mask: String, from length: Int) {
            if let word, word.utf8.count >= length, !words.contains(where: { $0.0 == word }) {
                words.append((word, mask))
            }
        }
        for case .success(let identity) in facts.keys.map(\.identity) {
            hide(identity.serial, "‹serial›", from: 4)
        }
        for serial in facts.devices.map(\.serial) + (facts.usb ?? []).map(\.serial) {
            hide(serial, "‹serial›", from: 4)
        }
        hide(home, "‹home›", from: 2)
        let listed = facts.nodes.values.flatMap { $0.listed + [$0.owner] }
        for name in [user, facts.login.activeUser ?? ""] + listed where name != "root" {
            hide(name, "‹user›", from: 2)
        }
        // A word may be part of another, so longer ones are replaced first.
        self.words = words.sorted { ($1.0.utf8.count, $0.0) < ($0.0.utf8.count, $1.0) }
    }

    /// Returns the line without identifying data.
    package func mask(_ line: String) -> String {
        words.reduce(line) { text, word in
            text.split(separator: word.0, omittingEmptySubsequences: false).joined(separator: word.1)
        }
    }
}
