// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKSecurID
import YKStore
import YKWire

/// A token as described in the store, without its seed.
struct TokenRecord {
    let record: StoreRecord
    let serial: String
    let digits: Int
    let interval: Int
    let type: SecurIDTokenType
    let expiry: UTCDate?
    let nickname: String?
    let user: String?
    let deviceID: String?

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

    /// All tokens of a store.
    static func all(_ store: SealedStore, path: String) throws(StoreError) -> [TokenRecord] {
        var tokens: [TokenRecord] = []
        for record in store.records { tokens.append(try TokenRecord(record, path: path)) }
        return tokens
    }

    /// Returns the token with its seed.
    func token(_ key: StoreKey) throws -> SecurIDToken {
        try SecurIDToken(
            serial: serial, seed: try key.open(record, service: "securid"), digits: digits,
            interval: .seconds(interval),
            type: type, expiry: expiry, nickname: nickname, user: user, deviceID: deviceID)
    }

    /// Returns the record of a token.
    static func record(_ token: SecurIDToken, _ key: StoreKey) throws(StoreError) -> StoreRecord {
        try key.seal(token.seed.value, id: token.serial, service: "securid", token.description)
    }

    /// The JSON for lists.
    func listed(current: String?, at time: Int64) -> JSONValue {
        var object = record.description.object ?? JSONValue.Object()
        object["expired"] = .bool(expiry.map { time >= $0.seconds } ?? false)
        object["current"] = .bool(serial == current)
        return .object(object)
    }

    /// The display name.
    var name: String { nickname.map { "\($0.printable) (\(serial))" } ?? serial }
}

extension SecurIDToken {
    /// The public part of a token's record.
    fileprivate var description: JSONValue {
        func text(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
        return [
            "serial": .string(serial), "nickname": text(nickname), "type": .string(type.rawValue),
            "digits": .int(Int64(digits)), "interval": .int(interval.components.seconds),
            "expiry": text(expiry?.description),
            "user": text(user), "deviceId": text(deviceID),
        ]
    }
}

/// Finds the token for a query.
enum TokenMatch {
    /// Returns the token with this serial number or nickname, or with part of one; without a query, the current or only
    /// token. The user chooses among several.
    static func one(
        _ query: String?, in tokens: [TokenRecord], current: String?, _ world: World
    ) throws -> TokenRecord {
        guard !tokens.isEmpty else {
            throw Explanation(
                "no-such-token", .notFound, "the store has no tokens", hint: "'ykit securid import' adds one")
        }
        guard let query else {
            if let token = tokens.first(where: { $0.serial == current }) { return token }
            return try only(
                tokens, "the store has \(tokens.count) tokens, name one or choose one with 'securid use'", world)
        }
        if let exact = tokens.first(where: { $0.serial == query || $0.nickname == query }) { return exact }
        let found = tokens.filter { $0.serial.mentions(query) || $0.nickname?.mentions(query) ?? false }
        return try only(found, "several tokens match '\(query.printable)'", world)
    }

    /// The error for a nickname in use by another token.
    static func taken(_ name: String) -> Explanation {
        Explanation("exists", .policy, "another token is called '\(name.printable)'", hint: "choose another name")
    }

    private static func only(_ tokens: [TokenRecord], _ message: String, _ world: World) throws -> TokenRecord {
        guard let token = tokens.first else {
            throw Explanation(
                "no-such-token", .notFound, "the store has no such token",
                hint: "'ykit securid list' shows them, 'ykit securid import' adds one")
        }
        guard tokens.count == 1 else {
            let failure = Explanation("several-tokens", .severalDevices, message, candidates: tokens.map(\.name))
            return tokens[try world.choose("which token?", among: failure.candidates, orElse: failure)]
        }
        return token
    }
}

extension SealedStore {
    /// The serial number of the default token.
    var current: String? { settings["current"]?.string }
}
