// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The names of PIV codes (NIST SP 800-73-4, SP 800-78-4 and Yubico's extensions).
enum PIVNames {
    private typealias Reference = PIVProtocol.Reference

    /// The PIN or key that P2 refers to.
    static func slot(_ number: UInt8) -> String {
        switch number {
        case Reference.pin: return "the PIN"
        case Reference.puk: return "the PUK"
        case Reference.fingerprint: return "the fingerprint"
        default:
            let name =
                PIVProtocol.Slot.name(number) ?? PIVProtocol.Slot.retiredNumber(number).map { "retired \($0)" }
            return "slot \(Hex.encode([number]))" + (name.map { " (\($0))" } ?? "")
        }
    }

    static func reference(_ number: UInt8) -> String {
        switch number {
        case Reference.globalPIN: "global PIN"
        case Reference.pin: "PIN"
        case Reference.puk: "PUK"
        case Reference.fingerprint: "fingerprint"
        default: "reference \(Hex.encode([number]))"
        }
    }

    static func algorithm(_ number: UInt8) -> String {
        let names: [UInt8: String] = [
            0x00: "3DES", 0x03: "3DES", 0x05: "RSA 3072", 0x06: "RSA 1024", 0x07: "RSA 2048", 0x08: "AES-128",
            0x0A: "AES-192", 0x0C: "AES-256", 0x11: "P-256", 0x14: "P-384", 0x16: "RSA 4096", 0xE0: "Ed25519",
            0xE1: "X25519", 0xFF: "PIN or PUK",
        ]
        return names[number] ?? "algorithm \(Hex.encode([number]))"
    }

    static func pinPolicy(_ number: UInt8) -> String {
        let names = ["by default", "never", "once", "always", "match once", "match always"]
        return Int(number) < names.count ? names[Int(number)] : "policy \(number)"
    }

    static func touchPolicy(_ number: UInt8) -> String {
        let names = ["by default", "never", "always", "cached"]
        return Int(number) < names.count ? names[Int(number)] : "policy \(number)"
    }

    static func object(_ id: MaskedBytes) -> String {
        guard !id.isSecret, let number = id.number else { return id.hex }
        if let name = objects[number] { return "\(name) (\(id.hex))" }
        if (0x5FC10D...0x5FC120).contains(number) {
            return "certificate of retired slot \(number - 0x5FC10C) (\(id.hex))"
        }
        return "object \(id.hex)"
    }

    private static let objects: [UInt64: String] = [
        0x5FC107: "card capability container", 0x5FC102: "CHUID", 0x5FC105: "certificate of 9a",
        0x5FC10A: "certificate of 9c", 0x5FC10B: "certificate of 9d", 0x5FC101: "certificate of 9e",
        0x5FC106: "security object", 0x5FC109: "printed information", 0x5FC103: "fingerprints",
        0x5FC108: "facial image", 0x5FC10C: "key history", 0x5FC121: "iris images", 0x7E: "discovery object",
        0x7F61: "biometric information", 0x5FFF00: "ykman's admin data", 0x5FFF01: "attestation certificate",
        0x5FC122: "secure messaging certificate", 0x5FC123: "pairing code",
    ]
}
