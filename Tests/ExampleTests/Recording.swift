// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What the programs of the documentation start from.
enum Recording {
    /// A capture of this repository, as text in UTF-8.
    static func named(_ name: String) throws -> [UInt8] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return Array(try Data(contentsOf: root.appendingPathComponent("captures/\(name).jsonl")))
    }
}

/// Takes what a program prints.
func print(_ items: Any...) { for item in items { _ = "\(item)" } }
