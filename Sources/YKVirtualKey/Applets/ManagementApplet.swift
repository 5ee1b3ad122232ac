// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// The management application: says what the key is and what it can do.
package struct ManagementApplet: Applet {
    package static let aid = AID.management

    package init() {}

    package mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) -> [UInt8] {
        Array("Virtual mgr - FW version \(key.profile.version)".utf8)
    }

    /// READ CONFIG, from firmware 4.1: one page of device information, its number in P1.
    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard command.ins == 0x1D, key.profile.version >= Version(4, 1, 0) else {
            throw .status(.unknownInstruction)
        }
        guard let page = Self.page(command.p1, key.profile) else { throw .status(.wrongParameters) }
        return page
    }

    /// A page: a length byte, then data objects; `nil` when there is no such page.
    static func page(_ number: UInt8, _ profile: DeviceProfile) -> [UInt8]? {
        let pages =
            profile.version >= Version(5, 7, 0)
            ? [five(profile) + [TLV(0x10, [1])], more(profile)]
            : [profile.version.major == 4 ? four(profile) : five(profile)]
        guard pages.indices.contains(Int(number)) else { return nil }
        let content = pages[Int(number)].encoded
        return [UInt8(truncatingIfNeeded: content.count)] + content
    }

    /// U2F, OATH, PIV, and from firmware 5 on FIDO2 are the applications that there are to switch on or off.
    private static let capabilities: [UInt8] = [0x02, 0x32]

    private static func serial(_ profile: DeviceProfile) -> TLV {
        var writer = ByteWriter(capacity: 4)
        writer.bigEndian(UInt64(profile.serial), 4)
        return TLV(0x02, writer.bytes)
    }

    private static func four(_ profile: DeviceProfile) -> [TLV] {
        [TLV(0x01, [capabilities[1]]), serial(profile), TLV(0x03, [capabilities[1]])]
    }

    private static func five(_ profile: DeviceProfile) -> [TLV] {
        [
            TLV(0x01, capabilities), serial(profile), TLV(0x03, capabilities),
            TLV(0x04, [profile.formFactor]), TLV(0x05, profile.version.bytes), TLV(0x06, [0, 0]),
            TLV(0x07, [15]), TLV(0x08, [0]), TLV(0x0D, capabilities), TLV(0x0E, capabilities),
            TLV(0x0A, [0]), TLV(0x0F, [0]),
        ]
    }

    private static func more(_ profile: DeviceProfile) -> [TLV] {
        let qualifier = [TLV(0x01, profile.version.bytes), TLV(0x02, [2]), TLV(0x03, [0])].encoded
        return [
            TLV(0x13, Array("YKIT-VIRT".utf8)), TLV(0x14, [0, 0]), TLV(0x15, [0, 0]), TLV(0x16, [0]), TLV(0x17, [0]),
            TLV(0x18, [0, 0]), TLV(0x19, qualifier),
        ]
    }
}
