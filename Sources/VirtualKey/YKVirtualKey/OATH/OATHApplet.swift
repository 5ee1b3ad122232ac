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

extension OATHApplet {
    /// VALIDATE: host and key prove to each other that they have the access key; 6A80 if the host does not.
    mutating func validate(_ command: APDU, _ memory: OATHMemory) throws(Refusal) -> [UInt8] {
        guard let accessKey = memory.accessKey else { throw .status(.dataInvalid) }
        let (response, theirs) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.fullResponse), try reader.value(Tag.challenge))
        }
        let expected = Self.hmac(accessKey, challenge)
        guard !challenge.isEmpty, theirs.count >= 8, constantTimeEqual(response, expected) else {
            throw .status(.incorrectParameters)
        }
        isUnlocked = true
        return TLV(Tag.fullResponse, Self.hmac(accessKey, theirs)).encoded
    }

    /// SET CODE: sets an access key that the host proves to have; an empty key removes it.
    ///
    /// Applets before 3.0.0 (YubiKey NEO) are locked by it until they are selected and unlocked again. On a YubiKey 5
    /// FIPS with firmware 5.7, the access key cannot be removed.
    mutating func setCode(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let fields = try Self.parse(command.data) { reader throws(WireError) in
            let code = try reader.value(Tag.key)
            return code.isEmpty && reader.isAtEnd
                ? nil : (code, try reader.value(Tag.challenge), try reader.value(Tag.fullResponse))
        }
        guard let (code, theirs, response) = fields else {
            guard !key.profile.isFIPS57 else { throw .status(.conditionsNotSatisfied) }
            key.oath.accessKey = nil
            return
        }
        let accessKey = Array(code.dropFirst())
        let type = VirtualAccount.Kind.totp.rawValue | VirtualAccount.Hash.sha1.rawValue
        guard code.first == type, !accessKey.isEmpty, accessKey.count <= 64, !theirs.isEmpty else {
            throw .status(.incorrectParameters)
        }
        let expected = Self.hmac(accessKey, theirs)
        guard response.count == expected.count else { throw .status(.incorrectParameters) }
        guard constantTimeEqual(response, expected) else { throw .status(.dataInvalid) }
        key.oath.accessKey = accessKey
        if key.profile.oathVersion < FirmwareVersion(3, 0, 0) { isUnlocked = false }
    }

    /// RESET: deletes all accounts and the access key, locked or not, and draws a new salt.
    mutating func reset(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard (command.p1, command.p2) == OATHProtocol.resetParameters else { throw .status(.wrongParameters) }
        key.oath = OATHMemory(salt: try inputs.draw(8))
        isUnlocked = true
        return []
    }

    private static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha1.hmac(key: Secret(key), message)
    }

    /// The maximum length of a name, in bytes.
    static let nameLimit = 64

    /// LIST: the type and name of each account.
    func list(_ memory: OATHMemory) -> [UInt8] {
        memory.accounts.map { TLV(Tag.nameList, [$0.typeByte] + $0.name) }.encoded
    }

    /// PUT: adds an account, or replaces the one with the same name; 6A84 if there is no space left.
    func put(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let new = try Self.parse(command.data) { reader throws(WireError) in try Self.account(&reader) }
        try Self.check(new, key.profile)
        // Allowed only in FIPS-approved mode, which requires an access key.
        guard !key.profile.isFIPS57 || key.oath.accessKey != nil else { throw .status(.conditionsNotSatisfied) }
        if let index = key.oath.index(of: new.name) {
            key.oath.accounts[index] = new
        } else if key.oath.accounts.count < Self.capacity(key.profile.version) {
            key.oath.accounts.append(new)
        } else {
            throw .status(.noSpace)
        }
    }

    /// DELETE: deletes an account; 6984 if no account has this name.
    func delete(_ command: APDU, _ memory: inout OATHMemory) throws(Refusal) {
        let name = try Self.parse(command.data) { reader throws(WireError) in try reader.value(Tag.name) }
        memory.accounts.remove(at: try Self.find(name, memory))
    }

    /// RENAME (firmware 5.3.1 and later): gives an account a name that no other account has.
    func rename(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard key.profile.version >= FirmwareVersion(5, 3, 1) else { throw .status(.unknownInstruction) }
        let (old, new) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.name))
        }
        guard (1...Self.nameLimit).contains(new.count) else { throw .status(.incorrectParameters) }
        let index = try Self.find(old, key.oath)
        guard key.oath.index(of: new) == nil else { throw .status(.incorrectParameters) }
        key.oath.accounts[index].name = new
    }

    static func find(_ name: [UInt8], _ memory: OATHMemory) throws(Refusal) -> Int {
        guard let index = memory.index(of: name) else { throw .status(.dataInvalid) }
        return index
    }

    /// The maximum number of accounts: 64 from firmware 5.7 on, 32 before.
    static func capacity(_ version: FirmwareVersion) -> Int { version >= FirmwareVersion(5, 7, 0) ? 64 : 32 }

    /// Parses the data of PUT: name, key, then an optional property (a tag and one byte, no length) and initial
    /// counter.
    private static func account(_ reader: inout ByteReader) throws(WireError) -> VirtualAccount {
        let name = try reader.value(Tag.name)
        var key = try reader.tlv(Tag.key, "the key")
        let type = try key.byte("type and algorithm")
        guard let kind = VirtualAccount.Kind(rawValue: type & 0xF0),
            let hash = VirtualAccount.Hash(rawValue: type & 0x0F)
        else { throw WireError(.malformed, at: key.offset - 1, "unknown type or algorithm") }
        var account = VirtualAccount(
            name: name, kind: kind, hash: hash, digits: try key.byte("digits"), secret: key.rest())
        if let tag = reader.peek, tag == Tag.property.rawValue {
            _ = try reader.byte()
            account.properties = VirtualAccount.Properties(rawValue: try reader.byte("properties"))
        }
        if !reader.isAtEnd {
            var counter = try reader.tlv(Tag.initialCounter, "the initial counter")
            account.counter = try counter.bigEndian(4, "the initial counter")
            try counter.finish("the initial counter")
        }
        return account
    }

    private static func check(_ account: VirtualAccount, _ profile: DeviceProfile) throws(Refusal) {
        let version = profile.version
        let isTouchKnown = version >= FirmwareVersion(4, 2, 6)
        let known: VirtualAccount.Properties = isTouchKnown ? [.increasing, .touch] : [.increasing]
        let isGood =
            (1...nameLimit).contains(account.name.count) && (6...8).contains(account.digits)
            && (14...account.hash.algorithm.blockSize).contains(account.secret.count)
            && account.properties.isSubset(of: known)
            && (account.hash != .sha512
                || version >= FirmwareVersion(4, 3, 1) && !(profile.isFIPS && version.major == 4))
        guard isGood else { throw .status(.incorrectParameters) }
    }

    /// CALCULATE: an account's response to a challenge, after a touch if required; HOTP increments its counter.
    func calculate(
        _ command: APDU, _ memory: inout OATHMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let isTruncated = try Self.isTruncated(command)
        let (name, challenge) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.name), try reader.value(Tag.challenge))
        }
        let index = try Self.find(name, memory)
        var account = memory.accounts[index]
        if account.properties.contains(.touch) {
            try inputs.requireTouch(account.name, orElse: .status(.conditionsNotSatisfied))
        }
        let response = try Self.respond(&account, challenge, isTruncated)
        memory.accounts[index] = account
        return response.encoded
    }

    /// CALCULATE ALL: the name and response of every account; HOTP and touch accounts have only a marker instead.
    func calculateAll(_ command: APDU, _ memory: inout OATHMemory) throws(Refusal) -> [UInt8] {
        let isTruncated = try Self.isTruncated(command)
        let challenge = try Self.parse(command.data) { reader throws(WireError) in try reader.value(Tag.challenge) }
        var reply: [TLV] = []
        for index in memory.accounts.indices {
            let account = memory.accounts[index]
            reply.append(TLV(Tag.name, account.name))
            if account.kind == .hotp {
                reply.append(TLV(Tag.noResponse, [account.digits]))
            } else if account.properties.contains(.touch) {
                reply.append(TLV(Tag.touch, [account.digits]))
            } else {
                reply.append(try Self.respond(&memory.accounts[index], challenge, isTruncated))
            }
        }
        return reply.encoded
    }

    private static func isTruncated(_ command: APDU) throws(Refusal) -> Bool {
        guard command.p1 == 0, command.p2 <= 1 else { throw .status(.wrongParameters) }
        return command.p2 == 1
    }

    private static func respond(
        _ account: inout VirtualAccount, _ challenge: [UInt8], _ isTruncated: Bool
    ) throws(Refusal) -> TLV {
        let hmac = account.hmac(try message(&account, challenge))
        return isTruncated
            ? TLV(Tag.truncatedResponse, [account.digits] + VirtualAccount.truncated(hmac))
            : TLV(Tag.fullResponse, [account.digits] + hmac)
    }

    /// The HMAC input: the counter, which is then incremented, or the host's challenge.
    private static func message(_ account: inout VirtualAccount, _ challenge: [UInt8]) throws(Refusal) -> [UInt8] {
        if account.kind == .hotp {
            var writer = ByteWriter(capacity: 8)
            writer.bigEndian(account.counter, 8)
            account.counter &+= 1
            return writer.bytes
        }
        guard (1...64).contains(challenge.count) else { throw .status(.incorrectParameters) }
        guard account.properties.contains(.increasing) else { return challenge }
        // Challenges are compared as numbers, whatever their lengths (ykneo-oath).
        let isHigher = account.lastChallenge.padded(to: 64).lexicographicallyPrecedes(challenge.padded(to: 64))
        guard isHigher else { throw .status(.securityStatusNotSatisfied) }
        account.lastChallenge = challenge
        return challenge
    }
}
