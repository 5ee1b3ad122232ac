// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTransport

/// The table of known keys, and the rules for udev that are made of it.
@Suite struct KnownKeysTests {
    private static func file(_ name: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.deletingLastPathComponent().appendingPathComponent(name), encoding: .utf8)
    }

    @Test func theRulesAreThoseOfTheFile() throws {
        #expect(try Self.file("udev/70-ykit.rules") == KnownKeys.rules)
    }

    @Test func everyKeyHasARuleForEachOfItsNodes() throws {
        let rows = try Self.file("udev/devices.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(rows.count > 40)
        let rules = KnownKeys.rules.split(separator: "\n").map(String.init)
        for row in rows {
            let words = row.split(separator: " ").map(String.init)
            let (vendor, product) = (words[0], words[1])
            let node = "0003:\(vendor):\(product).*".uppercased()
            #expect(rules.contains { $0.hasPrefix("KERNELS==") && $0.contains(node) }, "\(row)")
            let reader = rules.first { $0.hasPrefix("ATTR{idVendor}==\"\(vendor)\"") }
            #expect(reader?.contains(product) == true, "\(row)")
        }
    }
}
