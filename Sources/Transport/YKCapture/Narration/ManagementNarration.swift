// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes Yubico's device management.
enum ManagementNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case 0x1D: return ("READ CONFIG, page \(command.p1)", [])
        case 0x1C: return ("WRITE CONFIG", configuration(command.data))
        case 0x1F: return ("RESET DEVICE", [])
        case 0x16: return ("SET MODE", ["mode \(command.data.hex)"])
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String] { data.isEmpty ? [] : ["says \(data.text)"] }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        command.ins == 0x1D ? configuration(data) : data.isEmpty ? [] : ["reply \(data.hex)"]
    }

    /// Describes a configuration: a length byte, then data objects.
    static func configuration(_ data: MaskedBytes) -> [String] {
        guard !data.isEmpty else { return [] }
        return data[1..<(1 + Int(data[0]))].lines(line)
    }

    private static func line(_ field: MaskedBytes.Field) -> String {
        let value = field.value
        let name = names[field.tag] ?? "tag \(Hex.encode(TLV.Tag(rawValue: field.tag).bytes))"
        switch field.tag {
        case 0x01, 0x03, 0x0D, 0x0E: return "\(name): \(value.number.map(applications) ?? value.hex)"
        case 0x02: return "\(name) \(value.number.map(String.init) ?? value.hex)"
        case 0x05, 0x20, 0x21: return "\(name) \(OATHNarration.version(value))"
        case 0x04: return "\(name) \(value.number.map(form) ?? value.hex)"
        case 0x06, 0x07: return "\(name) \(value.number.map(String.init) ?? value.hex) s"
        case 0x13: return "\(name) \(value.text)"
        default: return "\(name) \(value.hex)"
        }
    }

    static func applications(_ bits: UInt64) -> String {
        let all: [(UInt64, String)] = [
            (0x01, "OTP"), (0x02, "U2F"), (0x200, "FIDO2"), (0x20, "OATH"), (0x10, "PIV"), (0x08, "OpenPGP"),
            (0x100, "HSM Auth"), (0x04, "CCID"), (0x400, "management"),
        ]
        let set = all.filter { bits & $0.0 != 0 }.map(\.1)
        return set.isEmpty ? "none" : set.joined(separator: ", ")
    }

    private static func form(_ byte: UInt64) -> String {
        let forms: [UInt64: String] = [
            1: "USB-A keychain", 2: "USB-A nano", 3: "USB-C keychain", 4: "USB-C nano", 5: "USB-C and Lightning",
            6: "USB-A Bio", 7: "USB-C Bio",
        ]
        let extra = (byte & 0x80 != 0 ? ", FIPS" : "") + (byte & 0x40 != 0 ? ", Security Key" : "")
        return (forms[byte & 0x0F] ?? "\(byte & 0x0F)") + extra
    }

    private static let names: [UInt32: String] = [
        0x01: "over USB there are", 0x02: "serial", 0x03: "over USB there are enabled", 0x04: "form factor",
        0x05: "version", 0x06: "auto-eject after", 0x07: "challenge-response time-out", 0x08: "flags",
        0x09: "application versions", 0x0A: "locked or lock code", 0x0B: "unlock code", 0x0C: "reboot",
        0x0D: "over NFC there are", 0x0E: "over NFC there are enabled", 0x0F: "iAP detection", 0x10: "more data",
        0x11: "free form", 0x12: "HID delay", 0x13: "part number", 0x14: "FIPS capable", 0x15: "FIPS approved",
        0x16: "PIN complexity", 0x17: "NFC restricted", 0x18: "reset blocked", 0x19: "version qualifier",
        0x20: "fingerprint sensor firmware", 0x21: "STM firmware",
    ]
}
