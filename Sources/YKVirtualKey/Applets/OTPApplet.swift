// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

/// As much of the Yubico OTP application as other programs need to tell one key from another: status and serial.
///
/// Both slots are empty; commands that would write one are refused.
package struct OTPApplet: Applet {
    package static let aid = AID(rawValue: AID.otp.rawValue + [0x01])

    package init() {}

    package mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) -> [UInt8] { status(key) }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        switch (command.ins, command.p1) {
        case (0x03, _): return status(key)
        case (0x01, 0x10):
            var writer = ByteWriter(capacity: 4)
            writer.bigEndian(UInt64(key.profile.serial), 4)
            return writer.bytes
        case (0x01, 0x13) where key.profile.version.major >= 4:
            return ManagementApplet.page(0, key.profile) ?? []
        case (0x01, _): throw .status(.commandNotAllowed)
        default: throw .status(.unknownInstruction)
        }
    }

    /// Version, programming sequence 0, no slot in use.
    private func status(_ key: VirtualKeyState) -> [UInt8] { key.profile.version.bytes + [0, 0, 0] }
}
