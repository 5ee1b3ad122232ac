// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKInteraction
import YKOATH
import YKOpenPGP
import YKPIV
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

@testable import YKBridge

/// Clients at the far end use applications of a virtual key at the near one.
@Suite(.serialized) struct RemoteCardTests {
    private func opener(_ key: VirtualKey) -> @Sendable () throws -> CardService {
        { try CardService(CardChannel(link: key.link(), environment: .instant)) }
    }

    private func channel(_ card: FarCard) -> sending CardChannel {
        nonisolated(unsafe) let link: any CardLink = card
        return CardChannel(link: link, environment: ServiceEnvironment(timeout: .seconds(600)))
    }

    private func pivKey() async throws -> (VirtualKey, PublicKey) {
        let key = try VirtualKey.new()
        let service = try await PIVService.open(CardChannel(link: key.link(), environment: .instant))
        try await service.authenticate(with: .defaultKey())
        let made = try await service.generateKey(.authentication, .rsa2048)
        await service.close()
        return (key, made)
    }

    @Test("PIV: a signature, with the question and the PIN at the near end; nothing that changes the key")
    func piv() async throws {
        let (key, made) = try await pivKey()
        let before = key.state.piv
        let bench = try RemoteCardBench(pins: ["123456"])
        let result = try await bench.run([.piv], opener(key)) { card in
            expect(card.identity.atr, is: key.link().identity.atr)
            let client = try await PIVService.open(channel(card))
            try await expect(client.publicKey(.authentication), is: made)
            // Whatever is typed there.
            try await client.verify(try PIVPIN(Secret(utf8: "00000000")))
            let signature = try await client.sign(.message([1, 2, 3]), .authentication)
            #expect(made.isValid(signature, for: [1, 2, 3], .sha256))
            await #expect(throws: PIVError.self) { try await client.authenticate(with: .defaultKey()) }
            await #expect(throws: PIVError.self) {
                try await client.changePIN(
                    from: try PIVPIN(Secret(utf8: "123456")), to: try PIVPIN(Secret(utf8: "654321")))
            }
            await #expect(throws: PIVError.self) { try await client.reset() }
            try await expect(client.serial(), is: nil)
            await #expect(throws: PIVError.self) { _ = try await client.attest(.authentication) }
            await client.close()
        }
        #expect(throws: Never.self) { try result.get() }
        // A program that blocks the PIN before a reset asks for it in vain, and for one that was verified no tries are known.
        expect(bench.user.asked, is: [.card(.unlock(.piv)), .card(.pivKey(slot: 0x9A)), .card(.unlock(.piv))])
        expect(bench.tries, is: [3, nil])
        #expect(bench.events.contains(.used(.pivKey(slot: 0x9A), .ok)))
        #expect(bench.events.contains(.refused(nil, .command("CHANGE REFERENCE DATA"))))
        expect(key.state.piv, is: before)
    }

    @Test("a wrong PIN, none and a no are denied alike, and cost what they cost here")
    func refusals() async throws {
        let (key, _) = try await pivKey()
        let bench = try RemoteCardBench(NearUser(true, true, false), pins: ["999999"])
        try await bench.run([.piv], opener(key)) { card in
            let service = try CardService(channel(card))
            _ = try await service.select(.piv)
            let verify = APDU(ins: 0x20, p2: 0x80, data: [UInt8](repeating: 0x31, count: 8))
            try await expect(service.send(verify).status, is: .securityStatusNotSatisfied)
            try await expect(service.send(verify).status, is: .securityStatusNotSatisfied)
            for _ in 0..<5 { try await expect(service.send(verify).status, is: .conditionsNotSatisfied) }
            // The far end does not learn that one was wrong.
            try await expect(service.send(APDU(ins: 0x20, p2: 0x80)).status.triesLeft, is: 3)
            await service.close()
        }
        #expect(bench.refusedPINs == 1 && bench.tries == [3, 2])
        // After five without a yes, nobody is asked any more.
        #expect(bench.user.asked.count == 7 || bench.user.asked.count == 6)
        #expect(bench.events.contains(.refused(.card(.unlock(.piv)), .declined)))
        expect(key.state.piv.pin.left, is: 2)
    }

    @Test("OpenPGP: signature and decryption, also with a key derivation, which the far end does not see")
    func openPGP() async throws {
        let key = try VirtualKey.new()
        let service = try await OpenPGPService.open(CardChannel(link: key.link(), environment: .instant))
        try await service.setUpKDF(
            admin: Secret(utf8: "12345678"), newUser: Secret(utf8: "user-pin"), newAdmin: Secret(utf8: "admin-pin"),
            count: 100_000)
        try await service.verify(Secret(utf8: "admin-pin"), for: .administration)
        for slot in [OpenPGPSlot.signature, .decryption, .authentication] {
            _ = try await service.generateKey(slot, .rsa(bits: 2048))
        }
        await service.close()
        let bench = try RemoteCardBench(pins: Array(repeating: "user-pin", count: 2))
        try await bench.run([.openpgp], opener(key)) { card in
            let client = try await OpenPGPService.open(channel(card))
            try await expect(client.kdf(), is: nil)
            try await client.verify(Secret(utf8: "anything"), for: .signing)
            _ = try await client.sign(.message([1]))
            try await client.verify(Secret(utf8: "anything"), for: .using)
            _ = try await client.authenticate(.message([2]))
            await #expect(throws: OpenPGPError.self) { _ = try await client.decrypt([UInt8](repeating: 1, count: 256)) }
            await #expect(throws: OpenPGPError.self) {
                try await client.verify(Secret(utf8: "admin-pin"), for: .administration)
            }
            await #expect(throws: OpenPGPError.self) { try await client.reset() }
            await client.close()
        }
        let uses: [CardUse] = [
            .unlock(.openpgp), .openPGPSign, .unlock(.openpgp), .openPGPAuthenticate, .openPGPDecrypt,
        ]
        expect(Array(bench.user.asked.prefix(5)), is: uses.map { .card($0) })
        // A program that blocks the PINs before a reset asks for them in vain.
        #expect(bench.user.asked.dropFirst(5).allSatisfy { $0 == .card(.unlock(.openpgp)) })
        #expect(bench.tries.allSatisfy { $0 == 3 })
        #expect(key.state.openPGP.user.left == 3 && key.state.openPGP.admin.left == 3)
        #expect(key.state.openPGP.slots.values.filter { $0.key != nil }.count >= 3)
    }

    @Test("OATH: the list, one code, all codes; nothing else on the key")
    func oath() async throws {
        let key = VirtualKey.demonstration()
        let before = key.state.oath
        let bench = try RemoteCardBench()
        try await bench.run([.oath], opener(key)) { card in
            let client = try await OATHService.open(channel(card))
            let accounts = try await client.accounts()
            expect(accounts.count, is: 7)
            let alice = try #require(accounts.first { $0.id.name.hasPrefix("alice") })
            try await expect(client.code(for: alice.id, at: 59).text.count, is: 6)
            try await expect(client.codes(at: 59, recalculating: false).count, is: 7)
            await #expect(throws: OATHError.self) { try await client.delete(alice.id) }
            await #expect(throws: OATHError.self) { try await client.reset() }
            let service = try CardService(channel(card))
            for aid in [AID.piv, .openPGP, .management] {
                await #expect(throws: CardError.appletMissing(aid)) { _ = try await service.select(aid) }
            }
            await client.close()
        }
        expect(bench.user.asked, is: [.card(.code(account: "Acme:alice@example.com")), .card(.allCodes)])
        expect(key.state.oath, is: before)
    }

    @Test("the reader's power ends the session: the key is free, and the PIN no longer verified")
    func sessions() async throws {
        let (key, _) = try await pivKey()
        let bench = try RemoteCardBench(pins: ["123456"])
        try await bench.run([.piv], opener(key)) { card in
            var service = try CardService(channel(card))
            _ = try await service.select(.piv)
            #expect(
                try await service.send(APDU(ins: 0x20, p2: 0x80, data: [UInt8](repeating: 0x30, count: 8))).status
                    == .ok)
            try await expect(service.send(APDU(ins: 0x20, p2: 0x80)).status, is: .ok)
            try card.reset(.warm, deadline: .after(.seconds(60)))
            try await expect(service.send(APDU(ins: 0x20, p2: 0x80)).status, is: .conditionsNotSatisfied)
            service = try CardService(channel(card))
            _ = try await service.select(.piv)
            try await expect(service.send(APDU(ins: 0x20, p2: 0x80)).status.triesLeft, is: 3)
            // The reader goes away, and comes back.
            card.leave()
            let other = try await bench.again()
            service = try CardService(channel(other))
            try await expect(service.send(APDU(ins: 0x20, p2: 0x80)).status, is: .conditionsNotSatisfied)
            bench.cut()
            #expect(try await onThread { other.isRemoved })
        }
        guard case .failure(.lost)? = bench.farEnd.withLock({ $0 }) else {
            Issue.record("\(String(describing: bench.farEnd.withLock { $0 }))")
            return
        }
    }

    @Test("a far end without a reader says so, and one that does not know cards is refused")
    func noReader() async throws {
        let key = try VirtualKey.new()
        let service = try opener(key)()
        let pins = RemotePINs { _, _ in
            nil
        } outcome: { _, _ in
        }
        func end(_ frames: RemoteFrame...) async -> RemoteError? {
            let peer = HostileEndTests.Peer(isNear: false)
            let near = NearEnd(
                host: "lab", peer.channel, RemoteHello(program: "1"), RemotePolicy(), NearUser(true), Cancellation(),
                { _ in })
            peer.write(RemoteFrame.greeting)
            for frame in frames { peer.write(frame) }
            var failure: RemoteError?
            do throws(RemoteError) { try await near.run(card: service, [.piv], pins: pins) } catch { failure = error }
            withExtendedLifetime(peer) {}
            return failure
        }
        await expect(end(.hello(RemoteHello(versions: 1...1, program: "0.2.0"))), is: .noCards(program: "0.2.0"))
        let ending = RemoteEnding(.noReader, "none")
        await expect(end(.hello(RemoteHello(program: "1")), .end(ending)), is: .ended(ending))
        expect(RemoteError.noCards(program: "").ending.reason, is: .incompatible)
        let error = RemoteError.reader(.unknownHost("x"))
        expect(error.ending, is: RemoteEnding(.noReader, VPCDError.unknownHost("x").description))
    }
}
