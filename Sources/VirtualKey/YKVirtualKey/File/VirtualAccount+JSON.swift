// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

extension VirtualAccount {
    private static let kinds: [(String, Kind)] = [("totp", .totp), ("hotp", .hotp)]
    private static let hashes: [(String, Hash)] = [("sha1", .sha1), ("sha256", .sha256), ("sha512", .sha512)]

    /// The account as stored in the state file; a name that is not UTF-8 is stored in hexadecimal.
    var json: JSONValue {
        var object = JSONValue.Object()
        if let text = String(validating: name, as: UTF8.self) {
            object["name"] = .string(text)
        } else {
            object["nameHex"] = .string(Hex.encode(name))
        }
        object["kind"] = Self.kinds.first { $0.1 == kind }.map { .string($0.0) }
        object["hash"] = Self.hashes.first { $0.1 == hash }.map { .string($0.0) }
        object["digits"] = .int(Int64(digits))
        object["secret"] = .string(Hex.encode(secret))
        if properties.contains(.touch) { object["touch"] = true }
        if properties.contains(.increasing) { object["increasing"] = true }
        if kind == .hotp { object["counter"] = .int(Int64(bitPattern: counter)) }
        if !lastChallenge.isEmpty { object["lastChallenge"] = .string(Hex.encode(lastChallenge)) }
        return .object(object)
    }

    /// Parses an account in a state file.
    init(_ fields: StateFields) throws(StateFields.Fault) {
        var fields = fields
        let name = fields.has("nameHex") ? try fields.bytes("nameHex") : Array(try fields.text("name").utf8)
        guard (1...OATHApplet.nameLimit).contains(name.count) else {
            throw fields.fault("name", "expected 1 to \(OATHApplet.nameLimit) bytes")
        }
        self.init(
            name: name, kind: try fields.choice("kind", Self.kinds), hash: try fields.choice("hash", Self.hashes),
            digits: try fields.number("digits", 6...8), secret: try fields.bytes("secret"))
        guard (1...hash.algorithm.blockSize).contains(secret.count) else {
            throw fields.fault("secret", "expected 1 to \(hash.algorithm.blockSize) bytes")
        }
        if try fields.flag("touch") { properties.insert(.touch) }
        if try fields.flag("increasing") { properties.insert(.increasing) }
        if kind == .hotp { counter = UInt64(bitPattern: try fields.number("counter", Int64.min ... .max)) }
        if fields.has("lastChallenge") { lastChallenge = try fields.bytes("lastChallenge") }
        try fields.finish()
    }
}
