// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Choosing one of the accounts or credentials of a key.
@Suite struct AccountTests {
    @Test("OATH accounts: by the id with its period, by the id, by a part")
    func oath() throws {
        let alice = OATHAccountID(issuer: "Acme", name: "alice")
        let slow = OATHAccountID(issuer: "Acme", name: "alice", period: .seconds(60))
        let bob = OATHAccountID(issuer: "acme", name: "BOB")
        let hidden = OATHAccountID(issuer: "_hidden", name: "secret")
        let ids = [alice, slow, bob, hidden]
        expect(AccountMatch("bob", in: ids), is: .one(bob))
        expect(AccountMatch("60/Acme:alice", in: ids), is: .one(slow))
        expect(AccountMatch("Acme:alice", in: ids), is: .several([alice, slow]))
        expect(AccountMatch("Acme:alice", in: [alice, bob]), is: .one(alice))
        expect(AccountMatch("ACME", in: ids).all.count, is: 3)
        let (whole, parts) = (
            OATHAccountID(issuer: nil, name: "caf\u{E9}"), OATHAccountID(issuer: nil, name: "cafe\u{301}")
        )
        for account in [whole, parts] {
            expect(AccountMatch(account.text, in: [whole, parts]), is: .one(account))
            expect(AccountMatch(account.textWithPeriod, in: [whole, parts]), is: .one(account))
        }
        expect(AccountMatch("cafe\u{301}", in: [whole]), is: .one(whole))
        #expect(AccountMatch("x", in: ids) == .none && AccountMatch("x", in: ids).all.isEmpty)
        #expect(AccountMatch("secret", in: ids) == .none && AccountMatch("_hidden:secret", in: ids) == .one(hidden))
        expect(AccountMatch("secret", in: ids, includesHidden: true), is: .one(hidden))
        expect(ids.map { $0.text(among: ids) }, is: ["30/Acme:alice", "60/Acme:alice", "acme:BOB", "_hidden:secret"])
        let cafe = OATHAccountID(issuer: nil, name: "cafe\u{301}")
        expect(AccountMatch("CAF\u{E9}", in: [cafe]), is: .one(cafe), "spellings of a letter are equal")
    }

    @Test("the accounts that a key offers for a relying party: by name or identifier")
    func users() {
        let users = [
            FIDOUser(id: [1, 0xAB], name: "alice", displayName: "Alice"), FIDOUser(id: [2], name: "alice"),
            FIDOUser(id: [3]),
        ]
        expect(AccountMatch(named: "alice", among: users), is: .several([0, 1]))
        expect(AccountMatch(named: "Alice", among: users), is: .one(0))
        expect(AccountMatch(named: "01AB", among: users), is: .one(0))
        expect(AccountMatch(named: Base64.encodeURL([3]), among: users), is: .one(2))
        expect(AccountMatch(named: "bob", among: users), is: .none)
    }

    @Test("the credentials of a key: by identifier, by its beginning, by name, by a part of the site")
    func credentials() async throws {
        let machine = FakeMachine()
        machine.plug(try FakeMachine.key(7), into: "1-2", fido: "/dev/hidraw0")
        let key = try await KeyRing(environment: ServiceEnvironment(timeout: .seconds(600)), hardware: machine).only()
        let service = try await key.open(
            FIDOService.self, interaction: FIDOInteraction(pin: { _ in SharedSecret(Secret(utf8: "12345")) }))
        try await service.setPIN(SharedSecret(Secret(utf8: "12345")))
        for (site, id, name) in [("example.com", 1, "alice"), ("example.com", 2, "bob"), ("bank.org", 3, "alice")] {
            var request = RegistrationRequest(
                clientDataHash: [UInt8](repeating: 0x5A, count: 32), relyingParty: RelyingParty(id: site),
                user: FIDOUser(id: [UInt8(id)], name: name))
            request.isResident = true
            _ = try await service.register(request)
        }
        let all = try await service.discoverableCredentials()
        expect(all.map(\.name).sorted(), is: ["alice", "alice", "bob"])
        try await expect(service.discoverableCredentials(rpID: "bank.org").map(\.name), is: ["alice"])
        for one in all {
            expect(AccountMatch(one.id, in: all), is: .one(one))
            expect(AccountMatch(String(one.id.prefix(30)), in: all), is: .one(one))
            expect(AccountMatch(Hex.encode(one.credential.id.id).uppercased(), in: all), is: .one(one))
        }
        let bob = try #require(all.first { $0.name == "bob" })
        #expect(AccountMatch("bob", in: all) == .one(bob) && AccountMatch("BO", in: all) == .one(bob))
        expect(AccountMatch("alice", in: all).all.count, is: 2)
        expect(AccountMatch("BANK", in: all).all.map(\.relyingParty.id), is: ["bank.org"])
        expect(AccountMatch("carol", in: all), is: .none)
        await service.rest()
    }
}
