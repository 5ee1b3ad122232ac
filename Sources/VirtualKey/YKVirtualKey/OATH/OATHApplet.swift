// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// The OATH application (YKOATH): stores accounts and calculates their codes.
struct OATHApplet: Applet {
    static let aid = AID(rawValue: AID.oath.rawValue + [0x01])
    static let capabilities = VirtualCapability.oath
    static let continuation = Instruction.sendRemaining
    static let takesReaderForTouch = true
    static func opensChannels(on profile: DeviceProfile) -> Bool { profile.version >= FirmwareVersion(5, 6, 3) }

    typealias Instruction = OATHProtocol.Instruction
    typealias Tag = OATHProtocol.Tag

    /// The instructions of the applet; the card handles SEND REMAINING.
    private static let instructions: Set<UInt8> = [
        Instruction.put, Instruction.delete, Instruction.setCode, Instruction.reset, Instruction.rename,
        Instruction.list, Instruction.calculate, Instruction.validate, Instruction.calculateAll,
    ]

    var isUnlocked = false
    var challenge: [UInt8] = []

    init() {}

    var continues: Bool { isUnlocked }

    /// A locked application reports first that it is locked, as ykman's device tests expect.
    func needsChannel(_ command: APDU) -> Bool { command.ins == Instruction.validate || isUnlocked }

    /// SELECT returns version and salt and, if an access key is set, a challenge and its algorithm.
    mutating func select(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let about = [TLV(Tag.version, key.profile.oathVersion.bytes), TLV(Tag.name, key.oath.salt)]
        isUnlocked = key.oath.accessKey == nil
        guard !isUnlocked else { return about.encoded }
        challenge = try inputs.draw(8)
        return (about + [TLV(Tag.challenge, challenge), TLV(Tag.algorithm, [VirtualAccount.Hash.sha1.rawValue])])
            .encoded
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard Self.instructions.contains(command.ins) else { throw .status(.unknownInstruction) }
        let takesParameters = [Instruction.reset, Instruction.calculate, Instruction.calculateAll].contains(command.ins)
        guard takesParameters || command.parameters == 0 else { throw .status(.wrongParameters) }
        switch command.ins {
        case Instruction.validate: return try validate(command, key.oath)
        case Instruction.reset: return try reset(command, &key, inputs)
        default: break
        }
        guard isUnlocked else { throw .status(.securityStatusNotSatisfied) }
        switch command.ins {
        case Instruction.put: try put(command, &key)
        case Instruction.delete: try delete(command, &key.oath)
        case Instruction.setCode: try setCode(command, &key)
        case Instruction.rename: try rename(command, &key)
        case Instruction.list: return list(key.oath)
        case Instruction.calculate: return try calculate(command, &key.oath, inputs)
        default: return try calculateAll(command, &key.oath)
        }
        return []
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
