// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport

@testable import YKHardware

/// The device of a bridge is no key.
struct BridgeDeviceTests {
    @Test("it is left out of the keys, and found by itself")
    func leftOut() throws {
        let system = try FakeSystem()
        try system.plug(1, at: "virtual/misc/uhid", id: "0003:00001209:0000796B", name: "ykit bridge", serial: "alice")
        try system.plug(2)
        try system.plug(11, at: "virtual/misc/uhid/2", id: "0003:00001209:0000796B", hasNode: false)
        try system.plug(3, id: "0003:00001209:00000001")
        try expect(system.machine.keys().map(\.product), is: [0x0407, 0x0001])
        let found = BridgeDevice.all(system: system.machine.system, devices: system.machine.devices)
        expect(found.map(\.owner), is: ["alice", nil])
        expect(found.map(\.access), is: [.readable, .missing])
        expect(found.first?.path.hasSuffix("/hidraw1"), is: true)
    }
}
