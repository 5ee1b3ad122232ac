// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Yubico OTP slots in words.
enum OTPNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case 0x01:
            let hidden = command.data.isEmpty ? [] : ["data \(command.data.hex)"]
            return (slot(command.p1), command.p1 == 0x15 ? ManagementNarration.configuration(command.data) : hidden)
        case 0x02: return ("READ", [])
        case 0x03: return ("STATUS", [])
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String] { status(data) }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        switch (command.ins, command.p1) {
        case (0x01, 0x13): return ManagementNarration.configuration(data)
        case (0x01, 0x10): return ["serial \(data.number.map(String.init) ?? data.hex)"]
        case (0x03, _): return status(data)
        default: return data.isEmpty ? [] : ["reply \(data.hex)"]
        }
    }

    /// Version 3, program sequence, touch level (little endian).
    static func status(_ data: MaskedBytes) -> [String] {
        guard data.count >= 6 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        let level = UInt16(data[5]) << 8 | UInt16(data[4])
        let slots = [(UInt16(1), "slot 1"), (2, "slot 2")].filter { level & $0.0 != 0 }.map(\.1)
        return [
            "version \(OATHNarration.version(data.prefix(3)))", "program sequence \(data[3])",
            "configured: \(slots.isEmpty ? "none" : slots.joined(separator: ", "))",
        ]
    }

    static func slot(_ command: UInt8) -> String {
        let names: [UInt8: String] = [
            0x01: "CONFIGURE slot 1", 0x03: "CONFIGURE slot 2", 0x04: "UPDATE slot 1", 0x05: "UPDATE slot 2",
            0x06: "SWAP the slots", 0x08: "NDEF of slot 1", 0x09: "NDEF of slot 2", 0x10: "SERIAL",
            0x11: "DEVICE CONFIG", 0x12: "SCAN MAP", 0x13: "READ CONFIG", 0x15: "WRITE CONFIG",
            0x20: "OTP CHALLENGE to slot 1", 0x28: "OTP CHALLENGE to slot 2", 0x30: "HMAC CHALLENGE to slot 1",
            0x38: "HMAC CHALLENGE to slot 2",
        ]
        return names[command] ?? "slot command \(Hex.encode([command]))"
    }
}
