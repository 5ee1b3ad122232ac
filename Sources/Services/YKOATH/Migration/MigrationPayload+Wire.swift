// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The message: 1 accounts (repeated), 2 version, 3 batch size, 4 batch index, 5 batch id. An account: 1 secret, 2 name,
/// 3 issuer, 4 algorithm, 5 digits, 6 type, 7 counter.
extension MigrationPayload {
    /// Reads the decoded message; skips unknown fields, and collects accounts that cannot be used in ``unusable``.
    public init(decoding bytes: [UInt8]) throws(MigrationError) {
        self.init(accounts: [], version: 0, batchSize: 1, batchIndex: 0, batchID: 0)
        let fields = try lift(MigrationError.malformed) { () throws(WireError) in try Self.fields(bytes) }
        for (number, value) in fields {
            switch (number, value) {
            case (1, .bytes(let account)): try add(account)
            case (2, .varint(let value)): version = Int(truncatingIfNeeded: value)
            case (3, .varint(let value)): batchSize = Int(truncatingIfNeeded: value)
            case (4, .varint(let value)): batchIndex = Int(truncatingIfNeeded: value)
            case (5, .varint(let value)): batchID = Int(truncatingIfNeeded: value)
            default: continue
            }
        }
    }

    /// The message.
    public var encoded: [UInt8] {
        var writer = ProtobufWriter()
        for account in accounts { writer.field(1, Self.encode(account)) }
        writer.field(2, UInt64(clamping: version))
        writer.field(3, UInt64(clamping: batchSize))
        writer.field(4, UInt64(clamping: batchIndex))
        writer.field(5, UInt64(clamping: batchID))
        return writer.bytes
    }

    private typealias Field = (number: UInt64, value: ProtobufReader.Value)

    private static func fields(_ bytes: [UInt8]) throws(WireError) -> [Field] {
        guard bytes.count <= byteLimit else {
            throw WireError(.tooLarge, at: 0, "a payload of \(bytes.count) bytes")
        }
        var reader = ProtobufReader(bytes)
        var fields: [Field] = []
        while let field = try reader.field() { fields.append(field) }
        return fields
    }

    private mutating func add(_ bytes: [UInt8]) throws(MigrationError) {
        let fields = try lift(MigrationError.malformed) { () throws(WireError) in try Self.fields(bytes) }
        do { accounts.append(try MigratedAccount(fields).account()) } catch {
            unusable.append(.account(accounts.count + unusable.count, error))
        }
    }

    private static func encode(_ account: NewOATHAccount) -> [UInt8] {
        var secret = account.secret.value.copyBytes()
        defer { Secret.wipe(&secret) }
        var writer = ProtobufWriter()
        writer.field(1, secret)
        writer.field(2, Array(account.id.text.utf8))
        if let issuer = account.id.issuer { writer.field(3, Array(issuer.utf8)) }
        writer.field(4, UInt64(account.algorithm.rawValue))
        writer.field(5, [6: 1, 8: 2, 7: 3][account.digits] ?? 0)
        writer.field(6, account.id.type == .hotp ? 1 : 2)
        if account.id.type == .hotp { writer.field(7, UInt64(account.counter)) }
        return writer.bytes
    }
}

/// The unparsed fields of one account of an export.
private struct MigratedAccount {
    private var secret: [UInt8] = []
    private var name: [UInt8] = []
    private var issuer: [UInt8] = []
    private var numbers: [UInt64: UInt64] = [:]

    init(_ fields: [(number: UInt64, value: ProtobufReader.Value)]) {
        for (number, value) in fields {
            switch (number, value) {
            case (1, .bytes(let bytes)): secret = bytes
            case (2, .bytes(let bytes)): name = bytes
            case (3, .bytes(let bytes)): issuer = bytes
            case (let number, .varint(let value)): numbers[number] = value
            default: continue
            }
        }
    }

    func account() throws(OtpauthError) -> NewOATHAccount {
        if secret.isEmpty { throw OtpauthError(.secret, .empty) }
        var bytes = secret
        defer { Secret.wipe(&bytes) }
        let type = try type()
        return NewOATHAccount(
            id: try id(type), secret: Secret(bytes), algorithm: try algorithm(), digits: try digits(),
            counter: try counter(type))
    }

    private func id(_ type: OATHType) throws(OtpauthError) -> OATHAccountID {
        guard let name = String(validating: name, as: UTF8.self) else { throw OtpauthError(.label, .badEncoding) }
        guard let issuer = String(validating: issuer, as: UTF8.self) else { throw OtpauthError(.issuer, .badEncoding) }
        let label = AccountLabel(issuer: issuer.trimmed, name: name.trimmed)
        try label.check()
        return OATHAccountID(issuer: label.issuer, name: label.name, type: type)
    }

    private func type() throws(OtpauthError) -> OATHType {
        switch numbers[6] ?? 0 {
        case 0, 2: .totp
        case 1: .hotp
        case let other: throw OtpauthError(.type, .notUnderstood("\(other)"))
        }
    }

    private func algorithm() throws(OtpauthError) -> OATHAlgorithm {
        switch numbers[4] ?? 0 {
        case 0, 1: .sha1
        case 2: .sha256
        case 3: .sha512
        case 4: throw OtpauthError(.algorithm, .notUnderstood("MD5"))
        case let other: throw OtpauthError(.algorithm, .notUnderstood("\(other)"))
        }
    }

    private func digits() throws(OtpauthError) -> Int {
        switch numbers[5] ?? 0 {
        case 0, 1: 6
        case 2: 8
        case 3: 7
        case let other: throw OtpauthError(.digits, .notUnderstood("\(other)"))
        }
    }

    private func counter(_ type: OATHType) throws(OtpauthError) -> UInt32 {
        guard type == .hotp, let counter = numbers[7] else { return 0 }
        guard let counter = UInt32(exactly: counter) else {
            throw OtpauthError(.counter, .outOfRange("\(counter)", 0...Int64(UInt32.max)))
        }
        return counter
    }
}
