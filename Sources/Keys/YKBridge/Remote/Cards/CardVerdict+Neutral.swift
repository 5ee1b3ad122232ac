// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// What a far end does not learn of a key: its exact firmware, its identifier for OATH, and how many tries of a PIN are left,
/// which would show that its user mistook it.
extension CardVerdict {
    /// The version that keys from 5.4.3 on say they have: what programs ask a version for has not changed since then.
    private static let shownVersion: [UInt8] = [5, 4, 3]
    /// The tries that every PIN seems to have.
    private static let shownTries: UInt8 = 3

    /// The reply as the far end gets it, encoded again where something is left out.
    package func neutral(_ response: ResponseAPDU) -> ResponseAPDU {
        var response = response
        switch self {
        case .read(let command): Self.neutralize(&response, to: command)
        case .select(.oath): response.data = Self.oath(response.data)
        default: break
        }
        return response
    }

    private static func neutralize(_ response: inout ResponseAPDU, to command: APDU) {
        let isTries = response.status.triesLeft != nil || response.status == .authenticationBlocked
        if command.ins == ISO7816.verify, isTries { response.status = StatusWord(0x63C0 | UInt16(shownTries)) }
        switch command.ins {
        case PIVProtocol.Instruction.getVersion where command.data.isEmpty && response.data.count == 3,
            OpenPGPProtocol.Instruction.getVersion where command.data.isEmpty && response.data.count == 3:
            response.data = rounded(response.data)
        case PIVProtocol.Instruction.getMetadata where PIVProtocol.Reference.all.contains(command.p2):
            response.data = pinMetadata(response.data)
        case OpenPGPProtocol.Instruction.getData:
            response.data = openPGP(response.data, OpenPGPProtocol.object(of: command))
        default: break
        }
    }

    private static func rounded(_ version: [UInt8]) -> [UInt8] {
        guard version.count == 3, shownVersion.lexicographicallyPrecedes(version) else { return version }
        return shownVersion
    }

    /// The reply to SELECT of OATH (YKOATH): the version, an identifier that says nothing, and whether there is a password.
    private static func oath(_ reply: [UInt8]) -> [UInt8] {
        guard let list = try? TLV.list(reply) else { return [] }
        return list.map { item in
            switch item.tag {
            case OATHProtocol.Tag.version: TLV(item.tag, rounded(item.value))
            case OATHProtocol.Tag.name: TLV(item.tag, [UInt8](repeating: 0, count: item.value.count))
            default: item
            }
        }.encoded
    }

    /// GET METADATA of a PIN or PUK (Yubico): neither its tries nor whether it is the default.
    private static func pinMetadata(_ reply: [UInt8]) -> [UInt8] {
        guard let list = try? TLV.list(reply) else { return [] }
        return list.map { item in
            switch item.tag {
            case PIVProtocol.MetadataTag.isDefault: TLV(item.tag, [0])
            case PIVProtocol.MetadataTag.retries: TLV(item.tag, [shownTries, shownTries])
            default: item
            }
        }.encoded
    }

    /// An OpenPGP object, with the same tries in each PIN status (OpenPGP card 3.4 §4.4.3.5): three of the user's and the
    /// admin PIN, none of the reset code.
    private static func openPGP(_ value: [UInt8], _ tag: TLV.Tag) -> [UInt8] {
        typealias Tag = OpenPGPProtocol.Tag
        switch tag {
        case Tag.pinStatus where value.count >= 7:
            return value[..<4] + [shownTries, 0, shownTries]
        case Tag.application, Tag.discretionary:
            guard let list = try? TLV.list(value) else { return [] }
            // Some cards answer with the tag and the length, some without.
            return list.map { TLV($0.tag, openPGP($0.value, $0.tag)) }.encoded
        default: return value
        }
    }
}
