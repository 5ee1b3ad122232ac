// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKSecurID
import YKStore
import YKTestSupport
import YKTokenStore
import YKTransport
import YKWire

@Suite struct TokenStoreTests {
    private let path = NSTemporaryDirectory() + "ykit-tokens-\(UInt64.random(in: 0 ... .max)).json"
    private let key: StoreKey
    private let seal: StoreSeal

    init() throws {
        key = try StoreKey(CountingRandom(from: 1))
        seal = try StoreSeal.secretService(key, name: "keyring", added: 1, CountingRandom(from: 1)).seal
    }

    private func store() throws(TokenStoreError) -> TokenStore {
        try TokenStore(StoreFile(path, service: TokenStore.service))
    }

    private func token(_ serial: String, _ nickname: String? = nil) throws -> SecurIDToken {
        try SecurIDToken(
            serial: serial, seed: SharedSecret(Secret([UInt8](repeating: 7, count: 16))), digits: 8,
            interval: .seconds(60), type: .pinpad, expiry: UTCDate(2030, 1, 1), nickname: nickname, user: "al")
    }

    private func filled() throws -> TokenStore {
        try store().add(
            [try token("000000000001", "desk"), try token("000000000012"), try token("000000000123")], key, seal: seal)
        return try store()
    }

    @Test func keepsTokens() throws {
        let store = try filled()
        expect(store.tokens.map(\.serial), is: ["000000000001", "000000000012", "000000000123"])
        let first = store.tokens[0]
        #expect(first.nickname == "desk" && first.user == "al" && first.digits == 8 && first.interval == 60)
        #expect(!first.isExpired(at: 0) && first.isExpired(at: 1_893_456_000) && first.type == .pinpad)
        expect(first.description["expiry"], is: "2030-01-01")
        let opened = try first.token(key)
        #expect(opened.seed.value.copyBytes() == [UInt8](repeating: 7, count: 16) && opened.nickname == "desk")
        // What is there stays as it is.
        try store.add([try token("000000000001", "other")], key)
        try expect(self.store().tokens.map(\.nickname), is: ["desk", nil, nil])
    }

    @Test func findsTokens() throws {
        #expect(throws: TokenStoreError.empty) { _ = try self.store().tokens(matching: nil) }
        let store = try filled()
        try expect(store.tokens(matching: "desk").map(\.serial), is: ["000000000001"])
        try expect(store.tokens(matching: "000000000012").map(\.serial), is: ["000000000012"])
        try expect(store.tokens(matching: "12").map(\.serial), is: ["000000000012", "000000000123"])
        try expect(store.tokens(matching: nil).count, is: 3)
        #expect(throws: TokenStoreError.noSuchToken) { _ = try store.tokens(matching: "9") }
        try store.use(store.tokens[2])
        try expect(self.store().tokens(matching: nil).map(\.serial), is: ["000000000123"])
    }

    @Test func checksNamesAndRoom() throws {
        let store = try filled()
        #expect(throws: TokenStoreError.nicknameTaken("desk")) { try store.check(nickname: "desk", for: nil) }
        try store.check(nickname: "desk", for: "000000000001")
        #expect(throws: TokenStoreError.nicknameTaken("desk")) { try store.rename(store.tokens[1], "desk", key) }
        let other = try token("000000000999")
        #expect(throws: TokenStoreError.tooMany(4, limit: 3)) { _ = try store.new([other], limit: 3) }
        try expect(store.new([other, try token("000000000001")], limit: 4).map(\.serial), is: ["000000000999"])
    }

    @Test func renamesAndDeletes() throws {
        let store = try filled()
        try store.rename(store.tokens[0], nil, key)
        try expect(self.store().tokens[0].nickname, is: nil)
        // Another program changed the token meanwhile.
        #expect(throws: TokenStoreError.store(.file(.inUse(path: path)))) {
            try store.rename(store.tokens[0], "x", key)
        }
        try self.store().use(store.tokens[1])
        try self.store().delete(store.tokens[1])
        #expect(try self.store().tokens.count == 2 && self.store().current == nil)
        #expect(throws: TokenStoreError.store(.recordChanged("000000000123"))) {
            _ = try store.tokens[2].token(StoreKey(CountingRandom(from: 9)))
        }
        let id = try self.store().makeBindingID(CountingRandom(from: 1))
        try self.store().clear()
        let left = try self.store()
        #expect(left.tokens.isEmpty && left.content.seals.isEmpty && left.bindingID == id)
        try expect(left.makeBindingID(CountingRandom(from: 9)), is: id)
        #expect(throws: TokenStoreError.random) { _ = try left.makeBindingID(FailingRandom()) }
    }

    @Test func refusesKeysThatChanged() throws {
        let before = try store()
        _ = try filled()
        #expect(throws: TokenStoreError.store(.file(.inUse(path: path)))) {
            try before.add([try token("000000000777")], key, seal: seal)
        }
    }

    @Test func saysWhichFileIsDamaged() throws {
        _ = try filled()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacingOccurrences(of: "\"digits\":8", with: "\"digits\":\"8\"").write(
            toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: TokenStoreError.store(.malformed(path: path, reason: "a token cannot be read"))) {
            _ = try store()
        }
    }
}
