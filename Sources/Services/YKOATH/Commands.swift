// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

extension OATHInfo {
    /// Reads the reply to SELECT (YKOATH, "SELECT"): 79 version, 71 salt, 74 challenge if a password is set.
    package init(selectReply bytes: [UInt8], isYubiKey: Bool = false) throws(WireError) {
        let objects = try TLV.list(bytes)
        salt = try objects.required(OATHProtocol.Tag.name, "salt")
        version = try objects.value(OATHProtocol.Tag.version).map { value throws(WireError) in
            try FirmwareVersion(bytes: value)
        }
        challenge = objects.value(OATHProtocol.Tag.challenge)
        hasPassword = challenge != nil
        isLocked = challenge != nil
        self.isYubiKey = isYubiKey
        let named = [OATHProtocol.Tag.name, OATHProtocol.Tag.version, OATHProtocol.Tag.challenge]
        others = objects.filter { !named.contains($0.tag) }
    }
}

/// LIST (YKOATH): every account with its type and algorithm.
struct ListAccounts: CardCommand {
    static let name = "LIST"
    static let isRepeatable = true

    var apdu: APDU { APDU(ins: OATHProtocol.Instruction.list) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [OATHAccount] {
        var accounts: [OATHAccount] = []
        while !reader.isAtEnd {
            var row = try reader.tlv(OATHProtocol.Tag.nameList, "an account")
            let kind = try row.byte("type and algorithm")
            let id = OATHAccountID(rawName: row.rest(), type: OATHType(rawValue: kind))
            accounts.append(OATHAccount(id: id, algorithm: OATHAlgorithm(rawValue: kind)))
        }
        return accounts
    }
}

/// PUT (YKOATH): writes an account, overwriting one of the same name.
struct PutAccount: CardCommand {
    static let name = "PUT"
    let apdu: APDU

    /// `key` is the value after the type and digits bytes: padded, or hashed if it was longer than the hash's block.
    init(
        account: OATHAccountID, algorithm: OATHAlgorithm, digits: UInt8, key: borrowing OATHKey, needsTouch: Bool,
        counter: UInt32
    ) {
        let head = [account.type.rawValue | algorithm.rawValue, digits]
        var writer = ByteWriter(capacity: 256)
        writer.append(TLV(OATHProtocol.Tag.name, account.rawName).encoded)
        writer.append(TLV(OATHProtocol.Tag.key, head + key.bytes.copyBytes()).encoded)
        if needsTouch { writer.append(OATHProtocol.Tag.property.bytes + [0x02]) }  // This object has no length byte.
        if counter > 0 {
            writer.append(OATHProtocol.Tag.initialCounter.bytes + [4])
            writer.bigEndian(UInt64(counter), 4)
        }
        apdu = APDU(ins: OATHProtocol.Instruction.put, data: writer.bytes, le: .none)
    }
}

/// RENAME (YKOATH, firmware 5.3.1): renames an account and keeps its key and counter.
struct RenameAccount: CardCommand {
    static let name = "RENAME"
    let account: [UInt8]
    let newName: [UInt8]

    var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.name, account), TLV(OATHProtocol.Tag.name, newName)].encoded
        return APDU(ins: OATHProtocol.Instruction.rename, data: data, le: .none)
    }
}

/// DELETE (YKOATH): removes an account.
struct DeleteAccount: CardCommand {
    static let name = "DELETE"
    let account: [UInt8]

    var apdu: APDU {
        APDU(ins: OATHProtocol.Instruction.delete, data: TLV(OATHProtocol.Tag.name, account).encoded, le: .none)
    }
}

/// CALCULATE (YKOATH): the response of one account to a challenge. A counter-based account takes an empty challenge and
/// advances its counter.
package struct Calculate: CardCommand {
    package static let name = "CALCULATE"
    package let account: [UInt8]
    package let challenge: [UInt8]
    package let isTruncated: Bool

    package var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.name, account), TLV(OATHProtocol.Tag.challenge, challenge)].encoded
        return APDU(ins: OATHProtocol.Instruction.calculate, p2: isTruncated ? 1 : 0, data: data)
    }

    package func decode(_ reader: inout ByteReader) throws(WireError) -> OATHResponse {
        let tag = isTruncated ? OATHProtocol.Tag.truncatedResponse : OATHProtocol.Tag.fullResponse
        var value = try reader.tlv(tag, "the response")
        let response = try OATHResponse(&value, isTruncated: isTruncated)
        try reader.finish("the response")
        return response
    }
}

/// CALCULATE ALL (YKOATH): the truncated responses of all time-based accounts without a touch requirement, and the
/// names of the others.
struct CalculateAll: CardCommand {
    static let name = "CALCULATE ALL"
    static let isRepeatable = true
    let challenge: [UInt8]

    var apdu: APDU {
        let data = TLV(OATHProtocol.Tag.challenge, challenge).encoded
        return APDU(ins: OATHProtocol.Instruction.calculateAll, p2: 1, data: data)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [Row] {
        var rows: [Row] = []
        while !reader.isAtEnd {
            var name = try reader.tlv(OATHProtocol.Tag.name, "an account")
            rows.append(Row(name: name.rest(), answer: try Answer(&reader)))
        }
        return rows
    }

    /// One account of the reply.
    struct Row: Hashable, Sendable {
        let name: [UInt8]
        let answer: Answer
    }

    /// The reply for one account.
    enum Answer: Hashable, Sendable {
        case response(OATHResponse)
        case hotp(digits: Int)
        case touch(digits: Int)

        init(_ reader: inout ByteReader) throws(WireError) {
            let start = reader.offset
            let tag = try reader.tlvTag()
            var value = try reader.reader(try reader.tlvLength(), "the response")
            switch tag {
            case OATHProtocol.Tag.truncatedResponse: self = .response(try OATHResponse(&value, isTruncated: true))
            case OATHProtocol.Tag.fullResponse: self = .response(try OATHResponse(&value, isTruncated: false))
            case OATHProtocol.Tag.noResponse: self = .hotp(digits: try OATHResponse.digits(&value))
            case OATHProtocol.Tag.touch: self = .touch(digits: try OATHResponse.digits(&value))
            default: throw WireError(.malformed, at: start, "expected a response, got tag \(tag)")
            }
            try value.finish("the response")
        }
    }
}

/// SET CODE (YKOATH): sets the access key and proves that the host has it; without a key, removes it.
struct SetAccessKey: CardCommand {
    static let name = "SET CODE"
    let apdu: APDU

    /// Sets `key`; `challenge` is any eight bytes.
    init(_ key: borrowing AccessKey, challenge: [UInt8]) {
        let kind = OATHType.totp.rawValue | OATHAlgorithm.sha1.rawValue
        let data = [
            TLV(OATHProtocol.Tag.key, [kind] + key.copyBytes()), TLV(OATHProtocol.Tag.challenge, challenge),
            TLV(OATHProtocol.Tag.fullResponse, key.response(to: challenge)),
        ].encoded
        apdu = APDU(ins: OATHProtocol.Instruction.setCode, data: data, le: .none)
    }

    /// Removes the access key.
    static let removal = SetAccessKey(
        apdu: APDU(ins: OATHProtocol.Instruction.setCode, data: TLV(OATHProtocol.Tag.key, []).encoded, le: .none))

    private init(apdu: APDU) { self.apdu = apdu }
}

/// VALIDATE (YKOATH): answers the key's challenge and sends one in return.
package struct Validate: CardCommand {
    package static let name = "VALIDATE"
    package let response: [UInt8]
    package let challenge: [UInt8]
    private let expected: [UInt8]
    private let acceptsOverwritten: Bool

    /// Answers `theirs` and sends `ours`. With `acceptsOverwritten` an all-zero response passes, because recordings
    /// have their secrets overwritten.
    package init(
        _ key: borrowing AccessKey, theirs: [UInt8], ours: [UInt8], acceptsOverwritten: Bool = false
    ) {
        self.acceptsOverwritten = acceptsOverwritten
        response = key.response(to: theirs)
        challenge = ours
        expected = key.response(to: ours)
    }

    package var apdu: APDU {
        let data = [TLV(OATHProtocol.Tag.fullResponse, response), TLV(OATHProtocol.Tag.challenge, challenge)].encoded
        return APDU(ins: OATHProtocol.Instruction.validate, data: data)
    }

    /// Throws unless the key answered our challenge with the same access key.
    package func decode(_ reader: inout ByteReader) throws(WireError) {
        var value = try reader.tlv(OATHProtocol.Tag.fullResponse, "the answer to our challenge")
        let start = value.offset
        let answer = value.rest()
        let isOverwritten = acceptsOverwritten && !answer.isEmpty && answer.allSatisfy { $0 == 0 }
        guard isOverwritten || constantTimeEqual(answer, expected) else {
            throw WireError(.malformed, at: start, "the answer to our challenge is wrong")
        }
        try reader.finish("the answer to our challenge")
    }
}

/// RESET (YKOATH): removes all accounts and the password, and generates a new salt.
struct ResetOATHApplication: CardCommand {
    static let name = "RESET"

    var apdu: APDU { APDU(ins: OATHProtocol.Instruction.reset, p1: 0xDE, p2: 0xAD, le: .none) }
}
