// SPDX-License-Identifier: Apache-2.0

import YKBridge
import YKWire

/// The device of a bridge, and its owner.
enum BridgeNode {
    /// Vendor and product number.
    static var numbers: String { "\(hex(Bridge.vendor)):\(hex(Bridge.product))" }

    private static func hex(_ number: UInt16) -> String {
        Hex.encode([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])
    }

    /// Whether a text can be a user name (useradd(8)), which udev receives as a part of the device.
    static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= 32 else { return false }
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) }
        guard isLetter(first) || first == UInt8(ascii: "_") else { return false }
        return bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_-.".utf8.contains($0) }
    }
}
