// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKHTTP
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKApproval

/// The proof of presence before an approval, on keys in software.
struct UserProofTests {
    private let random = SystemRandom()

    private func key(_ serial: UInt32 = 1, pin: String? = "123456") async throws -> VirtualKey {
        let key = try VirtualKey.new(serial: serial)
        guard let pin else { return key }
        try await FIDOService.open(card: CardChannel(link: key.link())).setPIN(SharedSecret(Secret(utf8: pin)))
        return key
    }

    private func service(_ key: VirtualKey, pin: String? = "123456") async throws -> FIDOService {
        let interaction = FIDOInteraction(pin: { _ in pin.map { SharedSecret(Secret(utf8: $0)) } })
        return try await FIDOService.open(card: CardChannel(link: key.link()), interaction: interaction)
    }

    @Test func provesOnItsKeyOnly() async throws {
        let (key, other) = (try await key(), try await key(2))
        let proof = try await UserProof.make(try await service(key), name: "work", random)
        expect(UserProof(proof.json), is: proof)
        try await proof.prove(try await service(key), Array("nonce".utf8), random)
        await #expect(throws: ApprovalError.fido(.noCredentials)) {
            try await proof.prove(try await service(other), Array("nonce".utf8), random)
        }
        await #expect(throws: ApprovalError.self) {
            try await proof.prove(try await service(key, pin: "654321"), Array("nonce".utf8), random)
        }
        await #expect(throws: ApprovalError.self) {
            try await proof.prove(try await service(key, pin: nil), Array("nonce".utf8), random)
        }
    }

    @Test func needsAKeyThatVerifiesItsUser() async throws {
        let bare = try await key(pin: nil)
        await #expect(throws: ApprovalError.cannotVerifyUser) {
            try await UserProof.make(try await service(bare), name: "work", random)
        }
        let key = try await key()
        await #expect(throws: ApprovalError.random) {
            try await UserProof.make(try await service(key), name: "work", FailingRandom())
        }
    }

    @Test func refusesTheSignatureOfAnotherCredential() async throws {
        let key = try await key()
        let first = try await UserProof.make(try await service(key), name: "one", random)
        let second = try await UserProof.make(try await service(key), name: "two", random)
        var json = try #require(first.json.object)
        json["publicKey"] = second.json["publicKey"]
        let mixed = try #require(UserProof(.object(json)))
        let opened = try await service(key)
        do throws(ApprovalError) {
            try await mixed.prove(opened, [1], random)
            Issue.record("the signature of another key was taken")
        } catch { guard case .unproven = error else { throw error } }
    }

    @Test(
        arguments: [
            ("userVerification", "preferred"), ("userVerification", nil), ("credential", ""), ("credential", "*"),
            ("publicKey", "AAAA"), ("publicKey", nil),
        ] as [(String, JSONValue?)])
    func anAccountWhoseProofCannotBeReadIsNotUsed(_ name: String, _ value: JSONValue?) async throws {
        let proof = try await UserProof.make(try await service(try await key()), name: "work", random)
        var json = try #require(proof.json.object)
        json[name] = value
        expect(UserProof(.object(json)), is: nil)
        let link = try PushLink(
            "otpauth://pipush/x?url=https%3A//pi.example/ttype/push&ttl=10&issuer=x&enrollment_credential="
                + String(repeating: "a", count: 40) + "&v=1&serial=PIPU00000001&sslverify=1")
        let rsa = try SoftwareApprovalKey().publicKey
        let account = PushAccount(
            link, name: "work", serverKey: rsa, publicKey: rsa, place: .software, address: nil, trust: HTTPTrust(),
            added: 1, proof: proof)
        expect(PushAccount(account.stored)?.proof, is: proof)
        var stored = account.stored
        stored.details["proof"] = .object(json)
        expect(PushAccount(stored), is: nil)
    }
}
