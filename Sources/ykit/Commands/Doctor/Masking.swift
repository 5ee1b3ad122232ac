// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement

/// Takes out of a report what tells who wrote it: serial numbers, the user's name and folder.
struct Masking {
    private let words: [(String, String)]

    init(_ findings: Findings, user: String = User.name, home: String? = Variables["HOME"]) {
        var words: [(String, String)] = []
        for key in findings.keys {
            if case .success(let identity) = key.identity, let serial = identity.serial, serial.count > 3 {
                words.append((serial, "‹serial›"))
            }
        }
        words += findings.devices.compactMap(\.serial).filter { $0.count > 3 }.map { ($0, "‹serial›") }
        if let home, home.count > 1 { words.append((home, "‹home›")) }
        if user.count > 1, user != "root" { words.append((user, "‹user›")) }
        self.words = words
    }

    /// The line without them.
    func mask(_ line: String) -> String {
        words.reduce(line) { text, word in
            text.split(separator: word.0, omittingEmptySubsequences: false).joined(separator: word.1)
        }
    }
}
