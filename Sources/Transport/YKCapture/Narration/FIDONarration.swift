// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes FIDO over a smart card: U2F raw messages (U2F 1.2) and CTAP2 (CTAP 2.1 §11.3).
enum FIDONarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case 0x10: return CTAPNarration.request(command.data)
        case 0x11: return (command.p1 == 0x11 ? "cancel" : "ask whether CTAP is done", [])
        case 0x12 where command.cla & 0x80 != 0: return ("end the CTAP session", [])
        case 0x01 where command.cla & 0x80 == 0: return ("U2F register", challenge(command.data))
        case 0x02 where command.cla & 0x80 == 0:
            let modes: [UInt8: String] = [0x03: "", 0x07: ", check only", 0x08: ", no touch needed"]
            let mode = modes[command.p1] ?? ", mode \(Hex.encode([command.p1]))"
            return ("U2F authenticate\(mode)", challenge(command.data) + handle(command.data))
        case 0x03 where command.cla & 0x80 == 0: return ("U2F version", [])
        case 0x43: return ("U2F FIPS verify PIN", GenericNarration.secret(command))
        case 0x44: return ("U2F FIPS set PIN", GenericNarration.secret(command))
        case 0x45: return ("U2F FIPS reset", [])
        case 0x46: return ("U2F FIPS mode", [])
        default: return nil
        }
    }

    static func selected(_ data: MaskedBytes) -> [String] { data.isEmpty ? [] : ["speaks \(data.text.droppingQuotes)"] }

    static func meaning(_ status: StatusWord, of command: NarratedCommand) -> String? {
        switch (status, command.ins) {
        case (.conditionsNotSatisfied, 0x02) where command.p1 == 0x07: "the key handle is known"
        case (.conditionsNotSatisfied, 0x01), (.conditionsNotSatisfied, 0x02): "touch needed"
        case (.incorrectParameters, 0x02): "the key handle is not of this key"
        case (.wrongLength, 0x01), (.wrongLength, 0x02): "wrong length"
        default: nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        switch command.ins {
        case 0x10, 0x11: CTAPNarration.reply(data, to: command.data)
        case 0x01: registration(data)
        case 0x02: assertion(data)
        case 0x03: data.isEmpty ? [] : ["speaks \(data.text.droppingQuotes)"]
        default: data.isEmpty ? [] : ["reply \(data.hex)"]
        }
    }

    private static func challenge(_ data: MaskedBytes) -> [String] {
        guard data.count >= 64 else { return data.isEmpty ? [] : ["data \(data.hex)"] }
        return ["challenge \(data[0..<32].hex)", "application \(data[32..<64].hex)"]
    }

    private static func handle(_ data: MaskedBytes) -> [String] {
        guard data.count > 64 else { return [] }
        let rest = data.dropFirst(65)
        let size = Int(data[64]) == rest.count ? "\(rest.count) bytes" : "\(rest.count) bytes, \(data[64]) announced"
        return ["key handle of \(size): \(rest.hex)"]
    }

    /// Describes a registration: 05, public key, key handle, certificate, signature (U2F 1.2 §4.3).
    private static func registration(_ data: MaskedBytes) -> [String] {
        guard data.count > 67, data[0] == 0x05 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        let length = Int(data[66])
        let rest = data.dropFirst(67 + length)
        let signature = rest.afterFirstField
        return [
            "public key \(data[1..<66].hex(limit: 65))", "key handle \(data[67..<(67 + length)].hex(limit: 255))",
            "certificate of \(rest.count - signature.count) bytes", "signature \(signature.hex(limit: 80))",
        ]
    }

    /// Describes an assertion: presence, counter, signature (U2F 1.2 §5.4).
    private static func assertion(_ data: MaskedBytes) -> [String] {
        guard data.count >= 5 else { return data.isEmpty ? [] : ["reply \(data.hex)"] }
        return [
            data[0] & 1 == 1 ? "user present" : "user not present",
            "counter \(data[1..<5].number.map(String.init) ?? data[1..<5].hex)",
            "signature \(data.dropFirst(5).hex(limit: 80))",
        ]
    }
}
