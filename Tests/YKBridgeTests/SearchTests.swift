// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// Searches for credentials, for which nobody has to be there, and uses that nobody waits for.
struct SearchTests {
    private let example = Ceremony.register(site: "example.com", user: "alice")

    @Test("a search signs nothing that its program wants signed, and is reported")
    func hash() throws {
        let (desk, _, channel) = try Desk.withKey()
        let made = try #require(try desk.ask(on: channel, CTAP.register())).payload
        let registered = try #require(try CBOR(decoding: Array(made.dropFirst())).map?[2]?.bytes)
        let key = try #require(try AuthenticatorData(decoding: registered).credential?.publicKey)
        let search = CTAP.signIn(credential: try CTAP.credential(made), up: false)
        let found = try #require(try desk.ask(on: channel, search)).payload
        let answer = try #require(try CBOR(decoding: Array(found.dropFirst())).map)
        let (data, signature) = (try #require(answer[2]?.bytes), try #require(answer[3]?.bytes))
        for (hash, isSigned) in [([UInt8](repeating: 0x5A, count: 32), false), (CredentialSearch.hash, true)] {
            expect(((try? key.verify(signature, over: data + hash)) != nil), is: isSigned)
        }
        expect(desk.events.last, is: .answered(.search(site: "example.com"), reader: Desk.reader, status: 0))
        expect(desk.waits, is: [])
    }

    @Test("a search with an extension, which may derive a secret, needs the user like a sign-in")
    func secret() throws {
        let (desk, _, channel) = try Desk.withKey()
        _ = try desk.ask(on: channel, CTAP.register())
        var map = try #require(try CBOR(decoding: Array(CTAP.signIn(up: false).dropFirst())).map)
        map[4] = ["hmac-secret": [1: 1]]
        try expect(desk.ask(on: channel, CTAP.message(0x02, map))?.payload, is: [0x2F])
        expect(desk.waits, is: [.lift(reader: Desk.reader)])
    }

    @Test("what a search sends: a proof only of the same hash, and for U2F the same hash")
    func sent() throws {
        func sent(_ command: CTAPHID.Command, _ payload: [UInt8]) throws -> CardRequest? {
            let message = CTAPHID.Message(command, on: CTAPHID.Channel(rawValue: 1), payload)
            guard case .request(let request) = CardRequest.reading(of: message) else { return nil }
            return request
        }
        let proof = [UInt8](repeating: 9, count: 16)
        let other = try #require(try sent(.cbor, CTAP.signIn(credential: [7], up: false, proof: proof)))
        #expect(other.traits == .repeatable && other.ceremony == .search(site: "example.com"))
        var map = try #require(try CBOR(decoding: Array(CTAP.signIn(up: false, proof: proof).dropFirst())).map)
        try expect(CBOR(decoding: Array(other.payload.dropFirst())).map?[6], is: nil)
        map[2] = .bytes(CredentialSearch.hash)
        let same = try #require(try sent(.cbor, CTAP.message(0x02, map)))
        expect(same.traits, is: [])
        try expect(CBOR(decoding: Array(same.payload.dropFirst())).map?[6], is: .bytes(proof))
        let data = [UInt8](repeating: 0x11, count: 64) + [1, 9]
        let checked = try #require(try sent(.msg, CTAP.u2f(2, 7, data)))
        try expect(APDU(decoding: checked.payload).data, is: CredentialSearch.hash + data.dropFirst(32))
        let signed = try #require(try sent(.msg, CTAP.u2f(2, 8, data)))
        #expect(try APDU(decoding: signed.payload).data == data && signed.traits.contains(.presence))
    }

    @Test("a use is reported even if its program is gone when the card answers")
    func abandoned() throws {
        let (desk, key, channel) = try Desk.withKey()
        desk.work.isHeld = true
        try desk.send(.cbor, on: channel, CTAP.register())
        desk.work.go()
        desk.close()
        desk.work.isHeld = false
        desk.poll()
        #expect(key.state.fido.counter > 0)
        #expect(desk.events.contains(.answered(example, reader: Desk.reader, status: 0)))
    }
}
