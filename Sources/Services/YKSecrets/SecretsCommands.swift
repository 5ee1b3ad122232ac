// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
package import YKWire

private typealias Tag = SecretsProtocol.Tag
private typealias Instruction = SecretsProtocol.Instruction

extension SecretsInfo {
    /// Reads the reply to SELECT: 79 version; without a PIN 71 salt, with one 82 its tries; 8F serial number.
    package init(selectReply bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        var objects: [UInt8: [UInt8]] = [:]
        while !reader.isAtEnd {
            let object = try reader.object("a data object")
            objects[object.tag] = object.value
        }
        guard let version = objects[Tag.version.byte] else {
            throw WireError(.malformed, at: 0, "SELECT returned no version")
        }
        let retries = objects[Tag.pinRetries.byte]
        self.version = try FirmwareVersion(bytes: version)
        serial = objects[Tag.serial.byte]
        hasPIN = retries != nil
        pinRetries = retries?.first.map(Int.init)
        isDistinct = serial != nil || hasPIN
    }
}

/// PUT: stores an entry under an unused name; versions before 4.13 overwrite one of the same name.
struct PutEntry: CardCommand {
    static let name = "PUT"
    let apdu: APDU

    init(_ entry: NewSecretsEntry) {
        var writer = ByteWriter(capacity: 512)
        writer.append(TLV(Tag.name, entry.name.bytes).encoded)
        // An entry without a one-time password has a key of one byte, since the object may not be empty.
        let otp = entry.otp
        let kind = (otp?.kind ?? .none).rawValue | (otp?.algorithm ?? .sha1).rawValue
        var key = [kind, UInt8(clamping: otp?.digits ?? 6)] + (otp?.secret.value.copyBytes() ?? [0])
        defer { Secret.wipe(&key) }
        writer.append(TLV(Tag.key, key).encoded)
        // This object has no length byte.
        let properties: UInt8 = (entry.needsTouch ? 0x02 : 0) | (entry.isProtected ? 0x04 : 0)
        if properties != 0 { writer.append(Tag.property.bytes + [properties]) }
        if let otp, otp.kind == .hotp || otp.kind == .reverseHOTP {
            writer.append(Tag.initialCounter.bytes + [4])
            writer.bigEndian(UInt64(otp.counter), 4)
        }
        writer.append(entry.record.objects.encoded)
        apdu = APDU(ins: Instruction.put, data: writer.bytes, le: .none)
    }
}

extension SecretsRecord {
    /// The data objects of the fields that are not empty.
    var objects: [TLV] {
        let fields = [
            (Tag.login, login.map { Array($0.utf8) }), (Tag.password, password?.value.copyBytes()),
            (Tag.metadata, metadata?.value.copyBytes()),
        ]
        return fields.compactMap { tag, value in value.flatMap { $0.isEmpty ? nil : TLV(tag, $0) } }
    }
}

/// LIST: the entries that need no PIN, and after VERIFY PIN the others too.
struct ListEntries: CardCommand {
    static let name = "LIST"
    static let isRepeatable = true
    /// Whether the entries end with a byte of properties (version 4.11).
    let hasProperties: Bool

    var apdu: APDU { APDU(ins: Instruction.list, data: hasProperties ? [1] : []) }

    func decode(_ reader: inout ByteReader) throws(WireError) -> [SecretsEntry] {
        var list: [SecretsEntry] = []
        while !reader.isAtEnd {
            var entry = ByteReader(try reader.value(of: Tag.listEntry, "an entry"))
            let type = try entry.byte("the type")
            let name = try entry.bytes(entry.remaining - (hasProperties ? 1 : 0), "the name")
            let properties = hasProperties ? try entry.byte("the properties") : nil
            list.append(
                SecretsEntry(
                    name: SecretsName(bytes: name), kind: SecretsKind(rawValue: type),
                    algorithm: SecretsAlgorithm(rawValue: type), needsTouch: properties.map { $0 & 1 != 0 },
                    isProtected: properties.map { $0 & 2 != 0 }, hasPassword: properties.map { $0 & 4 != 0 }))
        }
        return list
    }
}

/// CALCULATE: a code. A counter-based entry takes an empty challenge and advances its counter.
struct CalculateCode: CardCommand {
    static let name = "CALCULATE"
    let entry: SecretsName
    let challenge: [UInt8]

    var apdu: APDU {
        let data = [TLV(Tag.name, entry.bytes), TLV(Tag.challenge, challenge)].encoded
        return APDU(ins: Instruction.calculate, p2: 1, data: data)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> String {
        var value = ByteReader(try reader.value(of: Tag.truncatedResponse, "the code"))
        let digits = Int(try value.byte("the number of digits"))
        guard (1...10).contains(digits) else { throw WireError(.malformed, at: 2, "a code of \(digits) digits") }
        let number = OneTimePassword.number(at: 0, in: try value.bytes(4, "the code"))
        try value.finish("the code")
        try reader.finish("the reply")
        return OneTimePassword.decimal(number, digits: digits)
    }
}

/// VERIFY CODE: compares a code of another device with the codes of this counter and the next nine.
struct VerifyCode: CardCommand {
    static let name = "VERIFY CODE"
    let entry: SecretsName
    let code: UInt32

    var apdu: APDU {
        var writer = ByteWriter(capacity: 4)
        writer.bigEndian(UInt64(code), 4)
        let data = [TLV(Tag.name, entry.bytes), TLV(Tag.response, writer.bytes)].encoded
        return APDU(ins: Instruction.verifyCode, data: data)
    }

    func decode(_ reader: inout ByteReader) {}
}

/// GET CREDENTIAL: login, password and metadata.
struct GetEntry: CardCommand {
    static let name = "GET CREDENTIAL"
    let entry: SecretsName

    var apdu: APDU {
        APDU(ins: Instruction.getCredential, data: TLV(Tag.name, entry.bytes).encoded)
    }

    func decode(_ reader: inout ByteReader) throws(WireError) -> SecretsContent {
        var kind: SecretsKind?
        var record = SecretsRecord()
        while !reader.isAtEnd {
            var object = try reader.object("a field")
            defer { Secret.wipe(&object.value) }
            switch object.tag {
            case Tag.property.byte: kind = object.value.first.map(SecretsKind.init(rawValue:))
            case Tag.login.byte: record.login = String(decoding: object.value, as: UTF8.self)
            case Tag.password.byte: record.password = SharedSecret(Secret(object.value))
            case Tag.metadata.byte: record.metadata = SharedSecret(Secret(object.value))
            default: break
            }
        }
        return SecretsContent(name: entry, kind: kind, record: record)
    }
}

/// UPDATE CREDENTIAL: renames an entry, changes its touch requirement, and replaces all its fields if any is given.
struct UpdateEntry: CardCommand {
    static let name = "UPDATE CREDENTIAL"
    let apdu: APDU

    /// - Parameter record: All fields of the entry; `nil` leaves them as they are.
    init(_ entry: SecretsName, name: SecretsName?, needsTouch: Bool?, record: SecretsRecord?) {
        var objects = [TLV(Tag.name, entry.bytes)]
        if let name { objects.append(TLV(Tag.name, name.bytes)) }
        if let needsTouch { objects.append(TLV(Tag.property, [needsTouch ? 0x02 : 0])) }
        if let record {
            let fields = record.objects
            // A command without any field would change none: an empty login removes them all.
            objects += fields.isEmpty ? [TLV(Tag.login, [])] : fields
        }
        apdu = APDU(ins: Instruction.updateCredential, data: objects.encoded, le: .none)
    }
}

/// DELETE.
struct DeleteEntry: CardCommand {
    static let name = "DELETE"
    let entry: SecretsName

    var apdu: APDU {
        APDU(ins: Instruction.delete, data: TLV(Tag.name, entry.bytes).encoded, le: .none)
    }
}

/// VERIFY PIN: for the next command only, and after a touch.
package struct VerifyPIN: CardCommand {
    package static let name = "VERIFY PIN"
    package let apdu: APDU

    init(_ pin: borrowing Secret) {
        apdu = APDU(ins: Instruction.verifyPIN, data: TLV(Tag.pin, pin.copyBytes()).encoded, le: .none)
    }
}

/// SET PIN: the first one.
package struct SetPIN: CardCommand {
    package static let name = "SET PIN"
    package let apdu: APDU

    init(_ pin: borrowing Secret) {
        apdu = APDU(ins: Instruction.setPIN, data: TLV(Tag.pin, pin.copyBytes()).encoded, le: .none)
    }
}

/// CHANGE PIN.
package struct ChangePIN: CardCommand {
    package static let name = "CHANGE PIN"
    package let apdu: APDU

    init(from old: borrowing Secret, to new: borrowing Secret) {
        let data = [TLV(Tag.pin, old.copyBytes()), TLV(Tag.newPIN, new.copyBytes())].encoded
        apdu = APDU(ins: Instruction.changePIN, data: data, le: .none)
    }
}

/// RESET: deletes all entries and the PIN, after a touch.
struct ResetSecrets: CardCommand {
    static let name = "RESET"

    var apdu: APDU {
        let (p1, p2) = OATHProtocol.resetParameters
        return APDU(ins: Instruction.reset, p1: p1, p2: p2, le: .none)
    }
}

extension TLV.Tag {
    /// The tag as one byte.
    fileprivate var byte: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
}

extension ByteReader {
    /// Reads a data object as the firmware writes it: the length is one byte of 0 to 255, not as in BER.
    fileprivate mutating func object(_ what: String) throws(WireError) -> (tag: UInt8, value: [UInt8]) {
        let tag = try byte(what)
        let length = Int(try byte("the length of \(what)"))
        return (tag, try bytes(length, what))
    }

    /// Reads the value of a data object that must have this tag.
    fileprivate mutating func value(of tag: TLV.Tag, _ what: String) throws(WireError) -> [UInt8] {
        let start = offset
        let object = try object(what)
        guard object.tag == tag.byte else { throw WireError(.malformed, at: start, "expected \(what)") }
        return object.value
    }
}
