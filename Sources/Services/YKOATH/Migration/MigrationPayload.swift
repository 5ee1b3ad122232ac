// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// A QR code of a Google Authenticator export: some accounts, and which part of the export this is.
public struct MigrationPayload: Sendable {
    /// Maximum size of a payload in bytes.
    public static let byteLimit = 1 << 20

    /// The accounts that can be used, in order.
    public var accounts: [NewOATHAccount]
    /// Why the other accounts of the export cannot be used, each with its index.
    public internal(set) var unusable: [MigrationError] = []
    /// The version of the format.
    public var version: Int
    /// The number of QR codes in the whole export.
    public var batchSize: Int
    /// The index of this one, from 0.
    public var batchIndex: Int
    /// The identifier that all QR codes of one export share.
    public var batchID: Int

    /// Creates a payload, by default the only one of its export.
    public init(
        accounts: [NewOATHAccount], version: Int = 1, batchSize: Int = 1, batchIndex: Int = 0, batchID: Int = 0
    ) {
        self.accounts = accounts
        self.version = version
        self.batchSize = batchSize
        self.batchIndex = batchIndex
        self.batchID = batchID
    }
}

extension MigrationPayload {
    private static let prefix = "otpauth-migration://offline"

    /// Whether a string looks like an export.
    public static func matches(_ text: String) -> Bool { text.trimmed.lowercased().hasPrefix("otpauth-migration:") }

    /// Reads `otpauth-migration://offline?data=…`.
    public init(parsing text: String) throws(MigrationError) {
        let text = text.trimmed
        let parts = text.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == Self.prefix || parts[0].lowercased() == Self.prefix + "/",
            let data = parts[1].split(separator: "&").first(where: { $0.hasPrefix("data=") })?.dropFirst(5)
        else { throw .notMigration }
        guard data.utf8.count <= Self.byteLimit * 2 else {
            throw .malformed(WireError(.tooLarge, at: 0, "an export of \(data.utf8.count) characters"))
        }
        guard let decoded = PercentEncoding.decode(data) else {
            throw .badBase64(WireError(.malformed, at: 0, "not percent-encoded"))
        }
        let base64 = String(decoded.map { $0 == " " ? "+" : $0 })
        let bytes = try lift(MigrationError.badBase64) { () throws(WireError) in try Base64.decode(base64) }
        try self.init(decoding: bytes)
    }

    /// The contents of the QR code, including the secrets. The format has no periods other than 30 seconds.
    public var text: String {
        let data = Base64.encode(encoded).flatMap { character in
            switch character {
            case "+": "%2B"
            case "/": "%2F"
            case "=": "%3D"
            default: String(character)
            }
        }
        return "\(Self.prefix)?data=\(String(data))"
    }
}

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

/// The place of a QR code in a Google Authenticator export with several.
public struct MigrationPart: Hashable, Sendable {
    /// The identifier that all QR codes of one export share.
    public let batchID: Int
    /// The number of QR codes in the whole export.
    public let count: Int
    /// The number of this one, from 1.
    public let number: Int

    /// An export with missing QR codes.
    public struct Gap: Hashable, Sendable {
        /// The number of QR codes in the whole export.
        public let count: Int
        /// The numbers of the missing ones, from 1.
        public let missing: [Int]
    }

    /// Returns the exports that are incomplete, in the order of their first parts.
    public static func gaps(among parts: [MigrationPart]) -> [Gap] {
        var found: [[MigrationPart]] = []
        for part in parts {
            let place = found.firstIndex { $0.first?.batchID == part.batchID && $0.first?.count == part.count }
            if let place { found[place].append(part) } else { found.append([part]) }
        }
        return found.compactMap { batch in
            guard let count = batch.first?.count else { return nil }
            let missing = Set(1...count).subtracting(batch.map(\.number)).sorted()
            return missing.isEmpty ? nil : Gap(count: count, missing: missing)
        }
    }
}

extension MigrationPayload {
    private static let partLimit = 1000

    /// Which part of its export this is; `nil` if it is the only one, or its numbers are impossible.
    public var part: MigrationPart? {
        guard (2...Self.partLimit).contains(batchSize), (0..<batchSize).contains(batchIndex) else { return nil }
        return MigrationPart(batchID: batchID, count: batchSize, number: batchIndex + 1)
    }
}

/// Why a string is not an `otpauth-migration://` export.
public enum MigrationError: Error, Hashable, Sendable {
    /// The prefix `otpauth-migration://offline?data=` is missing.
    case notMigration
    /// The data is not percent-encoded base64.
    case badBase64(WireError)
    /// The payload is not a valid migration message.
    case malformed(WireError)
    /// An account of the payload cannot be used: its index, from 0, and why.
    case account(Int, OtpauthError)
}
