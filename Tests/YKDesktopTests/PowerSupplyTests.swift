// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKDesktop
import YKTestSupport

struct PowerSupplyTests {
    @Test(
        arguments: [
            ([], false),
            ([["type": "Mains", "online": "1"], ["type": "Battery", "status": "Discharging"]], false),
            ([["type": "Mains", "online": "0"], ["type": "Battery", "status": "Discharging"]], true),
            ([["type": "USB", "online": "1"], ["type": "Battery", "status": "Discharging"]], false),
            ([["type": "Mains", "online": "0"], ["type": "Battery", "status": "Charging"]], false),
            ([["type": "Battery", "status": "Discharging", "scope": "Device"]], false),
            ([["status": "Discharging"]], false),
        ] as [([[String: String]], Bool)])
    func batteries(_ supplies: [[String: String]], _ isOnBattery: Bool) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (number, supply) in supplies.enumerated() {
            let place = folder.appendingPathComponent("supply\(number)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            for (name, value) in supply {
                try Data("\(value)\n".utf8).write(to: place.appendingPathComponent(name))
            }
        }
        expect(PowerSupply.isOnBattery(folder.path), is: isOnBattery)
    }

    @Test func noSupplies() { #expect(!PowerSupply.isOnBattery("/nonexistent")) }
}
