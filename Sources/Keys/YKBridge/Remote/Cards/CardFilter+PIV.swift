// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// The commands of PIV (NIST SP 800-73-4 Part 2 §3; Yubico's from F7 on).
extension CardFilter {
    private typealias PIV = PIVProtocol.Instruction
    private typealias Tag = PIVProtocol.Tag

    /// The keys that a far end may use. The management key, 9B, and the attestation key, F9, are not among them.
    static func isUserKey(_ slot: UInt8) -> Bool {
        typealias Slot = PIVProtocol.Slot
        return [Slot.authentication, Slot.signature, Slot.keyManagement, Slot.cardAuthentication].contains(slot)
            || Slot.retired.contains(slot)
    }

    /// RSA 1024 to 4096, P-256, P-384, Ed25519, X25519.
    private static let algorithms = PIVProtocol.rsaAlgorithms.union([0x11, 0x14, 0xE0, 0xE1])
    /// The last byte of the tags 5FC1xx of public objects (NIST SP 800-73-4 Part 1, table 3): certificates, CHUID,
    /// capability container, security object, key history.
    private static let publicObjects = Set<UInt8>([0x01, 0x02, 0x05, 0x06, 0x07, 0x0A, 0x0B, 0x0C]).union(0x0D...0x20)

    static func piv(_ command: APDU) -> CardVerdict {
        switch command.ins {
        case PIV.getData: return pivObject(command)
        // A PIN that nobody typed, with which programs use up the tries before a reset.
        case PIV.verify where !command.data.isEmpty && command.data.allSatisfy({ $0 == 0xFF }):
            return refusal(of: command, in: .piv)
        case PIV.verify: return verify(command, .piv, references: [PIVProtocol.Reference.pin], lengths: 8...8)
        case PIV.authenticate: return pivKey(command)
        case PIV.getMetadata:
            let isKnown =
                isUserKey(command.p2) || command.p2 == PIVProtocol.Slot.management
                || [PIVProtocol.Reference.pin, PIVProtocol.Reference.puk].contains(command.p2)
            guard isKnown, command.p1 == 0, command.data.isEmpty else { return .absent(.referenceNotFound) }
            return .read(APDU(ins: command.ins, p2: command.p2))
        case PIV.getVersion where command.parameters == 0 && command.data.isEmpty:
            return .read(APDU(ins: command.ins))
        case PIV.getSerial, PIV.attest: return .absent(.unknownInstruction)
        default: return refusal(of: command, in: .piv)
        }
    }

    /// GET DATA. The printed information is where some programs keep a management key.
    private static func pivObject(_ command: APDU) -> CardVerdict {
        guard (command.p1, command.p2) == PIVProtocol.currentObjects else { return .absent(.incorrectP1P2) }
        if command.data == PIVProtocol.printedObject { return refusal(of: command, in: .piv) }
        let list = command.data
        let isDiscovery = list == [0x5C, 0x01, UInt8(truncatingIfNeeded: Tag.discovery.rawValue)]
        let isPublic =
            list.count == 5 && list.starts(with: [0x5C, 0x03, 0x5F, 0xC1]) && publicObjects.contains(list[4])
        guard isDiscovery || isPublic else { return .absent(.notFound) }
        return .read(APDU(ins: command.ins, p1: command.p1, p2: command.p2, data: list))
    }

    /// GENERAL AUTHENTICATE with a key of the user: a challenge or a point, and an empty response. Other members belong to
    /// authentication with the management key.
    private static func pivKey(_ command: APDU) -> CardVerdict {
        guard isUserKey(command.p2) else { return refusal(of: command, in: .piv) }
        guard algorithms.contains(command.p1), let list = try? TLV.list(command.data), list.count == 1,
            let members = list.value(Tag.dynamic).flatMap({ try? TLV.list($0) }), members.count == 2,
            members.value(Tag.response)?.isEmpty == true
        else { return .absent(.incorrectParameters) }
        let (use, member): (CardUse, TLV)
        if let challenge = members.value(Tag.challenge), !challenge.isEmpty {
            (use, member) = (.pivKey(slot: command.p2), TLV(Tag.challenge, challenge))
        } else if let point = members.value(Tag.exponentiation), !point.isEmpty {
            (use, member) = (.pivAgreement(slot: command.p2), TLV(Tag.exponentiation, point))
        } else {
            return .absent(.incorrectParameters)
        }
        let template = TLV(Tag.dynamic, [TLV(Tag.response, []), member].encoded)
        return .use(APDU(ins: command.ins, p1: command.p1, p2: command.p2, data: template.encoded), use)
    }
}
