// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTransport
import YKVirtualKey
import YKWire

/// What the virtual key's management application answers.
struct VirtualDeviceInfoTests {
    private func channel(_ version: Version) -> CardChannel {
        let state = VirtualKeyState.demonstration(version: version)
        return CardChannel(link: VirtualKey(state).link())
    }

    @Test("select names the version")
    func select() throws {
        let text = try channel(Version(5, 7, 1)).select(.management)
        #expect(String(decoding: text, as: UTF8.self) == "Virtual mgr - FW version 5.7.1")
    }
}
