// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The OATH application (YKOATH): stores accounts and calculates their codes.
package struct OATHApplet: Applet {
    package static let aid = AID(rawValue: AID.oath.rawValue + [0x01])
    package static let capabilities = VirtualCapability.oath
    package static let continuation: UInt8 = 0xA5

    var isUnlocked = false
    var challenge: [UInt8] = []

    package init() {}

    /// SELECT returns version and salt and, if an access key is set, a challenge and its algorithm.
    package mutating func select(
        _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        let about = [TLV(Tag.version, key.profile.oathVersion.bytes), TLV(Tag.name, key.oath.salt)]
        isUnlocked = key.oath.accessKey == nil
        guard !isUnlocked else { return about.encoded }
        challenge = try world.draw(8)
        return (about + [TLV(Tag.challenge, challenge), TLV(Tag.algorithm, [VirtualAccount.Hash.sha1.rawValue])])
            .encoded
    }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard let instruction = Instruction(rawValue: command.ins) else { throw .status(.unknownInstruction) }
        switch instruction {
        case .validate: return try validate(command, key.oath)
        case .reset: return try reset(command, &key, world)
        default: break
        }
        guard isUnlocked else { throw .status(.securityStatusNotSatisfied) }
        switch instruction {
        case .put: try put(command, &key)
        case .delete: try delete(command, &key.oath)
        case .setCode: try setCode(command, &key)
        case .rename: try rename(command, &key)
        case .list: return list(key.oath)
        case .calculate: return try calculate(command, &key.oath, world)
        case .calculateAll: return try calculateAll(command, &key.oath)
        case .validate, .reset: break
        }
        return []
    }

    /// Instructions of the protocol; the card handles SEND REMAINING.
    enum Instruction: UInt8 {
        case put = 0x01
        case delete = 0x02
        case setCode = 0x03
        case reset = 0x04
        case rename = 0x05
        case list = 0xA1
        case calculate = 0xA2
        case validate = 0xA3
        case calculateAll = 0xA4
    }

    /// Tags of the protocol.
    enum Tag {
        static let name: TLV.Tag = 0x71
        static let listEntry: TLV.Tag = 0x72
        static let key: TLV.Tag = 0x73
        static let challenge: TLV.Tag = 0x74
        static let response: TLV.Tag = 0x75
        static let truncated: TLV.Tag = 0x76
        static let hotp: TLV.Tag = 0x77
        static let property: TLV.Tag = 0x78
        static let version: TLV.Tag = 0x79
        static let counter: TLV.Tag = 0x7A
        static let algorithm: TLV.Tag = 0x7B
        static let touch: TLV.Tag = 0x7C
    }

    /// Parses command data; invalid data ends the command with 6A80.
    static func parse<Value>(
        _ data: [UInt8], _ body: (inout ByteReader) throws(WireError) -> Value
    ) throws(Refusal) -> Value {
        do {
            var reader = ByteReader(data)
            let value = try body(&reader)
            try reader.finish()
            return value
        } catch { throw .status(.incorrectParameters) }
    }
}

extension ByteReader {
    /// Reads the value of a data object that must have this tag.
    mutating func value(_ tag: TLV.Tag) throws(WireError) -> [UInt8] {
        var inner = try tlv(tag, "a data object")
        return inner.rest()
    }
}
