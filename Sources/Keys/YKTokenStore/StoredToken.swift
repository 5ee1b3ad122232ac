// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKSecurID
public import YKStore
public import YKWire

/// A token as the store describes it, without its seed.
public struct StoredToken: Hashable, Sendable {
    /// The serial number, 12 decimal digits.
    public let serial: String
    /// The number of digits in a code.
    public let digits: Int
    /// The validity period of a code in seconds.
    public let interval: Int
    /// How the PIN is used.
    public let type: SecurIDTokenType
    /// The day on which the token expires, at 00:00 UTC; `nil` if it does not expire.
    public let expiry: UTCDate?
    /// The display name.
    public let nickname: String?
    /// The user to whom the token was issued.
    public let user: String?
    /// The device identifier to which the token is bound.
    public let deviceID: String?
    /// The public part, as the store has it.
    public var description: JSONValue { record.description }

    let record: StoreRecord

    /// Reads a record.
    ///
    /// - Parameter path: The store's path, for the error.
    /// - Throws: `malformed`.
    init(_ record: StoreRecord, path: String) throws(StoreError) {
        let json = record.description
        guard let serial = json["serial"]?.string, let digits = json["digits"]?.int.flatMap(Int.init(exactly:)),
            let interval = json["interval"]?.int.flatMap(Int.init(exactly:)),
            let type = json["type"]?.string.flatMap(SecurIDTokenType.init)
        else { throw .malformed(path: path, reason: "a token cannot be read") }
        self.record = record
        (self.serial, self.digits, self.interval, self.type) = (serial, digits, interval, type)
        expiry = json["expiry"]?.string.flatMap { UTCDate($0) }
        nickname = json["nickname"]?.string
        user = json["user"]?.string
        deviceID = json["deviceId"]?.string
    }

    /// Whether the token has expired at a time, in seconds since 1970.
    public func isExpired(at time: Int64) -> Bool { expiry.map { time >= $0.seconds } ?? false }

    /// Returns the token with its seed.
    ///
    /// - Parameter key: The store's key.
    /// - Throws: `store` if the record was modified, or `token`.
    public func token(_ key: StoreKey) throws(TokenStoreError) -> SecurIDToken {
        let seed: SharedSecret
        do { seed = try key.open(record, service: TokenStore.service) } catch { throw .store(error) }
        do {
            return try SecurIDToken(
                serial: serial, seed: seed, digits: digits, interval: .seconds(interval), type: type, expiry: expiry,
                nickname: nickname, user: user, deviceID: deviceID)
        } catch { throw .token(error) }
    }
}

extension SecurIDToken {
    /// Returns the record of the token in a store.
    func record(_ key: StoreKey) throws(TokenStoreError) -> StoreRecord {
        do { return try key.seal(seed.value, id: serial, service: TokenStore.service, publicPart) } catch {
            throw .store(error)
        }
    }

    private var publicPart: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        return [
            "serial": .string(serial), "nickname": text(nickname), "type": .string(type.rawValue),
            "digits": .int(Int64(digits)), "interval": .int(interval.components.seconds),
            "expiry": text(expiry?.description), "user": text(user), "deviceId": text(deviceID),
        ]
    }
}

/// Why a token of a store could not be found, added or changed.
public enum TokenStoreError: Error, Hashable, Sendable {
    /// The store failed.
    case store(StoreError)
    /// The token is invalid.
    case token(SecurIDError)
    /// The store has no tokens.
    case empty
    /// The store has no such token.
    case noSuchToken
    /// Another token has this nickname.
    case nicknameTaken(String)
    /// The store would hold more tokens than the limit.
    case tooMany(Int, limit: Int)
    /// The system provided no random bytes.
    case random
}

extension StoredToken: NamedEntry {
    package static func wholeTests(_ name: String) -> [(StoredToken) -> Bool] {
        [{ $0.serial == name || $0.nickname == name }]
    }

    package static func partTests(_ part: String) -> [(StoredToken) -> Bool] {
        [{ $0.serial.mentions(part) || $0.nickname?.mentions(part) ?? false }]
    }
}
