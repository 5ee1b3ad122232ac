// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// What works through a guard as at the key: U2F and extensions; and sites that are asked for once.
@Suite(.serialized) struct GuardFeaturesTests {
    private static let pin = "73519024"

    private func bench(
        _ user: NearUser = NearUser(true), _ policy: GuardPolicy = GuardPolicy(), sites: [String] = []
    ) async throws -> RemoteBench {
        RemoteBench(
            try await FIDOFeatures.Version.v21.key(pin: Self.pin), user, pins: Array(repeating: Self.pin, count: 30),
            guarding: policy, sites: sites)
    }

    private func registration(_ site: String = "example.com", _ name: String = "alice") -> RegistrationRequest {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: site),
            user: FIDOUser(id: Array(name.utf8), name: name))
        (request.isResident, request.userVerification) = (true, .required)
        return request
    }

    private func assertion(_ site: String = "example.com") -> AssertionRequest {
        var request = AssertionRequest(rpID: site, clientDataHash: [UInt8](repeating: 2, count: 32), allowList: [])
        request.userVerification = .required
        return request
    }

    private func hash(_ text: String) -> [UInt8] { HashAlgorithm.sha256.hash(Array(text.utf8)) }

    // MARK: U2F

    @Test("U2F: registration and sign-in, named by a site that was used before")
    func u2f() async throws {
        let bench = try await bench(sites: ["example.com"])
        try await bench.run { bench in
            let client = try await bench.client()
            try await expect(client.u2fVersion(), is: "U2F_V2")
            let (challenge, application) = (hash("challenge"), hash("https://example.com"))
            let made = try await client.u2fRegister(challengeHash: challenge, applicationHash: application)
            try made.verify(challengeHash: challenge, applicationHash: application)
            let signed = try await client.u2fAuthenticate(
                challengeHash: challenge, applicationHash: application, keyHandle: made.keyHandle)
            expect(signed.presence & 1, is: 1)
            await client.close()
        }
        expect(bench.user.asked, is: [.register(site: "example.com", user: nil), .signIn(site: "example.com")])
        #expect(bench.events.contains(.answered(.signIn(site: "example.com"), status: 0)))
    }

    @Test("U2F: a site that was never used is known by its hash only, and a no is one")
    func unknownSite() async throws {
        let bench = try await bench(NearUser(true, false))
        try await bench.run { bench in
            let client = try await bench.client()
            let application = hash("https://other.example")
            let made = try await client.u2fRegister(challengeHash: hash("1"), applicationHash: application)
            await #expect(throws: FIDOError.self) {
                _ = try await client.u2fAuthenticate(
                    challengeHash: hash("2"), applicationHash: application, keyHandle: made.keyHandle)
            }
            await client.close()
        }
        expect(bench.user.asked, is: [.registerU2F, .signInU2F])
        expect(bench.events.last, is: .refused(.signInU2F, .declined))
    }

    @Test("U2F: a check is not asked for, and neither is a handle of another key")
    func checks() async throws {
        let bench = try await bench()
        try await bench.run { bench in
            let client = try await bench.client()
            let application = hash("ssh:")
            let made = try await client.u2fRegister(challengeHash: hash("1"), applicationHash: application)
            #expect(try await client.u2fKnows(keyHandle: made.keyHandle, applicationHash: application))
            let foreign = [UInt8](repeating: 7, count: made.keyHandle.count)
            #expect(try await !client.u2fKnows(keyHandle: foreign, applicationHash: application))
            await #expect(throws: FIDOError.noCredentials) {
                _ = try await client.u2fAuthenticate(
                    challengeHash: hash("2"), applicationHash: application, keyHandle: foreign)
            }
            await client.close()
        }
        expect(bench.user.asked, is: [.registerU2F])
    }

    @Test("U2F: a refused site is refused here too")
    func refusedSite() async throws {
        var policy = GuardPolicy()
        policy.refused = [try #require(NamePattern("example.com"))]
        let bench = try await bench(NearUser(true), policy, sites: ["example.com"])
        try await bench.run { bench in
            let client = try await bench.client()
            await #expect(throws: FIDOError.self) {
                _ = try await client.u2fRegister(
                    challengeHash: hash("1"), applicationHash: hash("https://example.com"))
            }
            await client.close()
        }
        #expect(bench.user.asked.isEmpty)
    }

    @Test("a check carries a hash of the guard's own, and a signature without a touch becomes one with a touch")
    func rewritten() throws {
        let data = [UInt8](repeating: 5, count: 32) + [UInt8](repeating: 6, count: 32) + [2, 8, 9]
        for (control, action, sent) in [
            (UInt8(7), U2FRequest.Action.check, UInt8(7)), (8, .signIn, 3), (3, .signIn, 3),
        ] {
            let command = try APDU(ins: 2, p1: control, data: data).encoded(.extended)
            expect(U2FRequest.awaitsUser(command), is: (action == .signIn))
            guard case .request(let request) = U2FRequest.reading(command) else {
                Issue.record("\(control) is no request")
                continue
            }
            #expect(request.action == action && request.command.p1 == sent)
            expect(request.application, is: [UInt8](repeating: 6, count: 32))
            let zeros = [UInt8](repeating: 0, count: 32)
            expect(Array(request.command.data.prefix(32)), is: (action == .check ? zeros : Array(data.prefix(32))))
            #expect(request.checked.p1 == 7 && Array(request.checked.data.prefix(32)) == zeros)
        }
    }

    @Test("U2F messages that are malformed are answered as by a key")
    func malformed() {
        let answers: [([UInt8], [UInt8])] = [
            ([0, 2, 3, 0, 0, 0, 2, 1, 1], [0x67, 0x00]), ([0x80, 1, 0, 0], [0x6E, 0x00]),
            ([0, 0x43, 0, 0], [0x6D, 0x00]), ([0], [0x67, 0x00]),
        ]
        for (message, answer) in answers {
            guard case .answer(let said) = U2FRequest.reading(message) else {
                Issue.record("\(message) is a request")
                continue
            }
            expect(said, is: answer, "\(message)")
        }
    }

    // MARK: extensions

    @Test("secrets (PRF), blobs and protection are the key's own")
    func extensions() async throws {
        let bench = try await bench()
        let salts = HMACSecretSalts(prf: Array("salt".utf8), Array("other".utf8))
        try await bench.run { bench in
            let client = try await bench.client()
            var request = registration()
            (request.extensions.createsHMACSecret, request.extensions.blob) = (true, [1, 2, 3])
            request.extensions.protection = .required
            let made = try await client.register(request)
            #expect(made.extensions.hasHMACSecret && made.extensions.keptBlob == true)
            expect(made.extensions.protection, is: .required)
            var asked = assertion()
            (asked.extensions.salts, asked.extensions.wantsBlob) = (salts, true)
            let through = try #require(try await client.assert(asked).first?.extensions)
            let key = try #require(bench.opened.withLock { $0 })
            let direct = try #require(try await key.assert(asked).first?.extensions)
            await key.rest()
            #expect(through.blob == [1, 2, 3] && direct.blob == [1, 2, 3])
            let (one, other) = (try #require(through.secrets), try #require(direct.secrets))
            expect(one.first.value.copyBytes(), is: other.first.value.copyBytes())
            expect(one.second?.value.copyBytes(), is: other.second?.value.copyBytes())
            // credProtect: a search without verification does not find it.
            try await expect(bench.ask(client, CTAP.signIn(up: false)), is: 0x2E)
            await client.close()
        }
        expect(
            bench.user.asked, is: [.register(site: "example.com", user: "alice"), .deriveSecret(site: "example.com")])
    }

    // MARK: once

    @Test("a site of --once is asked for once, others and secrets of this machine each time")
    func once() async throws {
        var policy = GuardPolicy()
        policy.once = try ["example.com", "ssh:*"].map { try #require(NamePattern($0)) }
        let bench = try await bench(NearUser(true), policy)
        try await bench.run { bench in
            let client = try await bench.client()
            _ = try await client.register(registration())
            for _ in 0..<2 { _ = try await client.assert(assertion()) }
            for _ in 0..<2 { _ = try await client.register(registration("other.example")) }
            for _ in 0..<2 { _ = try await client.register(registration("ssh:")) }
            await client.close()
        }
        expect(bench.user.asked.map(\.site), is: ["example.com", "other.example", "other.example", "ssh:", "ssh:"])
        #expect(bench.events.contains(.begun(.signIn(site: "example.com"), asks: false)))
    }

    @Test("a ceremony through the guard costs little more than at the key")
    func cost() async throws {
        var policy = GuardPolicy()
        policy.once = [try #require(NamePattern("*"))]
        let bench = try await bench(NearUser(true), policy)
        var request = assertion()
        request.userVerification = .discouraged
        func typical(_ service: FIDOService) async throws -> Duration {
            var times: [Duration] = []
            for _ in 0..<15 {
                let start = ContinuousClock.now
                _ = try await service.assert(request)
                times.append(start.duration(to: .now))
            }
            return times.sorted()[times.count / 2]
        }
        try await bench.run { bench in
            let client = try await bench.client()
            _ = try await client.register(registration())
            let through = try await typical(client)
            let key = try #require(bench.opened.withLock { $0 })
            let direct = try await typical(key)
            print("a ceremony takes \(direct) at the key and \(through) through the guard")
            // 5 ms on a machine that does nothing else.
            #expect(through - direct < .milliseconds(100))
            await client.close()
        }
    }

    @Test("a no is no yes for later")
    func onceRefused() async throws {
        var policy = GuardPolicy()
        policy.once = [try #require(NamePattern("*"))]
        let bench = try await bench(NearUser(false, true), policy)
        try await bench.run { bench in
            let client = try await bench.client()
            await #expect(throws: FIDOError.denied) { _ = try await client.register(registration()) }
            for _ in 0..<2 { _ = try await client.register(registration()) }
            await client.close()
        }
        expect(bench.user.asked.count, is: 2)
    }
}
