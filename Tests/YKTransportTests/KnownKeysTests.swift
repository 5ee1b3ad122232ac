// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport

/// The table of known keys, and the rules for udev that are made of it.
@Suite struct KnownKeysTests {
    @Test func theRulesAreThoseOfTheFile() throws {
        expect(Recordings.text("udev/70-ykit.rules"), is: KnownKeys.rules)
    }

    @Test func everyKeyHasARuleForEachOfItsNodes() throws {
        let rows = Recordings.text("udev/devices.txt").split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(rows.count > 40)
        let rules = KnownKeys.rules.split(separator: "\n").map(String.init)
        for row in rows {
            let words = row.split(separator: " ").map(String.init)
            let (vendor, product) = (words[0], words[1])
            let node = "0003:\(vendor):\(product).*".uppercased()
            #expect(rules.contains { $0.hasPrefix("KERNELS==") && $0.contains(node) }, "\(row)")
            let reader = rules.first { $0.hasPrefix("ATTR{idVendor}==\"\(vendor)\"") }
            expect(reader?.contains(product), is: true, "\(row)")
        }
    }
}
