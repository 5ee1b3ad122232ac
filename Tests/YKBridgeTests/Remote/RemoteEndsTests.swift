// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKInteraction
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// Both ends of a remote bridge at work: a client at the far end, a virtual key at the near one.
@Suite(.serialized) struct RemoteEndsTests {
    private func registration(
        _ site: String = "example.com", _ verification: UserVerification = .discouraged, user: UInt8 = 1,
        resident: Bool = false
    ) -> RegistrationRequest {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: site),
            user: FIDOUser(id: [user], name: "alice"))
        (request.isResident, request.userVerification) = (resident, verification)
        return request
    }

    private func assertion(_ site: String = "example.com", _ registration: Registration? = nil) -> AssertionRequest {
        AssertionRequest(
            rpID: site, clientDataHash: [UInt8](repeating: 2, count: 32),
            allowList: registration.map { [CredentialDescriptor(id: $0.credential)] } ?? [])
    }

    @Test("registration and sign-in, with the PIN at the near end", arguments: FIDOFeatures.Version.allCases)
    func ceremonies(_ version: FIDOFeatures.Version) async throws {
        let bench = RemoteBench(try await version.key(pin: "73519024"), pins: Array(repeating: "73519024", count: 9))
        let result = try await bench.run { bench in
            let client = try await bench.client()
            try await expect(client.info().option(.uv), is: true)
            let made = try await client.register(registration("example.com", .required))
            #expect(made.response.authenticatorData.flags.contains(.userVerified))
            var request = assertion("example.com", made)
            request.userVerification = .required
            let signed = try await client.assert(request)
            expect(signed.first?.response.authenticatorData.flags.contains(.userVerified), is: true)
            for user: UInt8 in 2...4 { _ = try await client.register(registration(user: user, resident: true)) }
            request.allowList = []
            try await expect(client.assert(request).count, is: 3)
            try await client.select()
            await client.close()
        }
        #expect(throws: Never.self) { try result.get() }
        expect(bench.user.asked.first, is: .register(site: "example.com", user: "alice"))
        #expect(bench.user.asked.count == 7 && bench.user.asked.last == .select)
        expect(bench.key.state.fido.pinRetries, is: 8)
        expect(bench.events.first, is: .connected(program: "1"))
        #expect(bench.events.contains(.answered(.signIn(site: "example.com"), status: 0)))
        #expect(!bench.kernel.isPluggedIn)
    }

    @Test("a secret is derived by a key agreement from end to end")
    func secrets() async throws {
        let bench = RemoteBench(
            try await FIDOFeatures.Version.v21.key(pin: "73519024"), pins: Array(repeating: "73519024", count: 3))
        try await bench.run { bench in
            let client = try await bench.client()
            var creation = registration()
            creation.extensions.createsHMACSecret = true
            let made = try await client.register(creation)
            var request = assertion("example.com", made)
            request.extensions.salts = HMACSecretSalts([UInt8](repeating: 3, count: 32))
            let first = try #require(try await client.assert(request).first?.extensions.secrets).first
            let second = try #require(try await client.assert(request).first?.extensions.secrets).first
            #expect(first.value.copyBytes() == second.value.copyBytes() && first.value.count == 32)
            await client.close()
        }
        #expect(bench.user.asked.contains(.deriveSecret(site: "example.com")))
    }

    @Test("no is no, and so is silence; after five in a row nobody is asked for a minute")
    func declined() async throws {
        let bench = RemoteBench(try .new(), NearUser(nil, false))
        try await bench.run(questionTime: .milliseconds(50)) { bench in
            let client = try await bench.client()
            for _ in 0..<7 {
                await #expect(throws: FIDOError.denied) { _ = try await client.register(registration()) }
            }
            await client.close()
        }
        expect(bench.user.asked.count, is: 5)
        expect(
            bench.events.filter { $0 == .refused(.register(site: "example.com", user: "alice"), .declined) }.count,
            is: 5)
        expect(bench.events.last, is: .refused(.register(site: "example.com", user: "alice"), .tooManyQuestions))
        expect(bench.key.state.fido.counter, is: 0)
    }

    @Test("what is refused does not reach the key, and the client understands it")
    func refused() async throws {
        let key = try await FIDOFeatures.Version.v23.key(pin: "73519024")
        let before = key.state
        let bench = RemoteBench(key)
        try await bench.run { bench in
            let client = try await bench.client()
            for (message, status) in [
                ([0x07], 0x30), ([0x0A, 0xA0], 0x30), ([0x09, 0xA0], 0x30), ([0x0C, 0xA0], 0x30), ([0x0D, 0xA0], 0x30),
                ([0x40, 0xA0], 0x30), ([0x41, 0xA0], 0x30), ([0x50], 0x01), (CTAP.wrongPIN, 0x30), (CTAP.pin(3), 0x30),
                (CTAP.pin(9), 0x30), (CTAP.next, 0x30), (CTAP.signIn("ssh:"), 0x27), (CTAP.register("pam://lab"), 0x27),
                (CTAP.signIn("io.systemd.cryptsetup"), 0x27), (CTAP.signIn(up: false), 0x2E), (CTAP.pin(1), 0),
                (CTAP.pin(2), 0),
            ] as [([UInt8], UInt8)] {
                try await expect(bench.ask(client, message), is: status, "\(message)")
            }
            await #expect(throws: FIDOError.self) { try await client.setPIN(secret("1234")) }
            await #expect(throws: FIDOError.self) { _ = try await client.u2fVersion() }
            await client.close()
        }
        #expect(bench.user.asked.isEmpty)
        expect(key.state.fido.pinRetries, is: before.fido.pinRetries)
        expect(key.state.fido.counter, is: before.fido.counter)
    }

    @Test("a site that is named may be used without a question, and looked for without a touch")
    func named() async throws {
        var policy = RemotePolicy()
        policy.allowedAlways = [try #require(NamePattern("example.com"))]
        let bench = RemoteBench(try .new(), NearUser(false), policy: policy)
        try await bench.run { bench in
            let client = try await bench.client()
            let made = try await client.register(registration())
            var request = assertion("example.com", made)
            request.requiresPresence = false
            let found = try #require(try await client.assert(request).first?.response)
            // The key signed for nobody: not what the far end wanted signed.
            let key = try #require(made.response.authenticatorData.credential?.publicKey)
            for (hash, isSigned) in [(request.clientDataHash, false), (CredentialSearch.hash, true)] {
                let signed = found.authenticatorData.bytes + hash
                expect(((try? key.verify(found.signature, over: signed)) != nil), is: isSigned)
            }
            request.allowList = [CredentialDescriptor(id: [UInt8](repeating: 1, count: 64))]
            await #expect(throws: FIDOError.noCredentials) { _ = try await client.assert(request) }
            await client.close()
        }
        #expect(bench.user.asked.isEmpty)
        #expect(bench.events.contains(.begun(.register(site: "example.com", user: "alice"), asks: false)))
        #expect(bench.events.contains(.searched(site: "example.com", status: 0)))
        #expect(bench.events.contains(.searched(site: "example.com", status: 0x2E)))
    }

    @Test("a card in a reader has no button: its user is asked even for a site that is always allowed")
    func card() async throws {
        var policy = RemotePolicy()
        policy.allowedAlways = [try #require(NamePattern("example.com"))]
        let bench = RemoteBench(try .new(), NearUser(true, false), policy: policy, isCard: true)
        try await bench.run { bench in
            let client = try await bench.client()
            let made = try await client.register(registration())
            await #expect(throws: FIDOError.denied) { _ = try await client.assert(assertion("example.com", made)) }
            await client.close()
        }
        expect(
            bench.user.asked, is: [.register(site: "example.com", user: "alice"), .signIn(site: "example.com")])
    }

    @Test("what nobody agreed to holds a card for a moment, and not again soon; a question holds it only for a secret")
    func holds() async throws {
        let bench = RemoteBench(
            try await FIDOFeatures.Version.v21.key(pin: nil), NearUser(nil), isCard: true)
        func state() -> ServiceState? { bench.opened.withLock { $0 }?.state }
        try await bench.run { bench in
            let client = try await bench.client()
            try await expect(bench.ask(client, CTAP.pin(2)), is: 0)
            expect(state(), is: .open)
            try await expect(bench.ask(client, CTAP.pin(2)), is: 0)
            expect(state(), is: .resting)
            for message in [CTAP.pin(1), CTAP.next, CTAP.signIn("ssh:")] {
                _ = try await bench.ask(client, message)
                expect(state(), is: .resting)
            }
            let waiting = Task { try await client.register(registration()) }
            while bench.user.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            expect(state(), is: .resting)
            waiting.cancel()
            _ = try? await waiting.value
            await client.close()
        }
    }

    @Test("a wrong PIN, or none, is denied; the far end is not told how many tries are left")
    func wrongPIN() async throws {
        let bench = RemoteBench(try await FIDOFeatures.Version.v21.key(pin: "73519024"), pins: ["00000000"])
        try await bench.run { bench in
            let client = try await bench.client()
            for _ in 0..<2 {
                await #expect(throws: FIDOError.denied) {
                    _ = try await client.register(registration("a.example", .required))
                }
                try await expect(client.exchange(raw: CTAP.pin(1)), is: [0, 0xA1, 3, 8])
            }
            await client.close()
        }
        expect(bench.key.state.fido.pinRetries, is: 7)
        let failures = bench.events.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
        #expect(failures.count == 2 && failures.last == .pinNeeded)
    }

    @Test("a cancelled message withdraws the question, and the next one is served")
    func cancelled() async throws {
        let bench = RemoteBench(try .new(), NearUser(nil, true))
        try await bench.run { bench in
            let client = try await bench.client()
            let waiting = Task { try await client.register(registration()) }
            while bench.user.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            waiting.cancel()
            await #expect(throws: FIDOError.self) { _ = try await waiting.value }
            let program = try await bench.client()
            #expect(try await !program.register(registration()).credential.isEmpty)
            await program.close()
        }
        #expect(bench.user.withdrawn >= 1)
        #expect(bench.events.contains(.withdrawn(.register(site: "example.com", user: "alice"))))
    }

    @Test("a program that nobody answers for gets its answer in time")
    func patience() async throws {
        let bench = RemoteBench(try .new(), NearUser(nil))
        try await bench.run(patience: .milliseconds(200)) { bench in
            let client = try await bench.client()
            await #expect(throws: FIDOError.touchTimeout) { _ = try await client.register(registration()) }
            await client.close()
        }
        expect(bench.user.asked.count, is: 1)
    }

    @Test("a cut connection leaves no device, no question and no open key")
    func cut() async throws {
        let bench = RemoteBench(try .new(), NearUser(nil))
        let result = try await bench.run { bench in
            let client = try await bench.client()
            let waiting = Task { try await client.register(registration()) }
            while bench.user.asked.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            bench.cut()
            #expect(await bench.kernel.waits(isPluggedIn: false))
            await #expect(throws: FIDOError.self) { _ = try await waiting.value }
        }
        #expect(throws: RemoteError.lost) { try result.get() }
        #expect(throws: RemoteError.lost) { try bench.farResult?.get() }
        #expect(bench.user.withdrawn == 1 && bench.key.state.fido.counter == 0)
    }

    @Test("ends of other versions say so at both sides")
    func versions() async throws {
        let bench = RemoteBench(try .new())
        let result = try await bench.run(hello: RemoteHello(versions: 3...4, program: "9.9")) { bench in
            try await onThread { #expect(bench.farEnded.wait(milliseconds: 60_000)) }
            bench.farEnded.post()
        }
        #expect(throws: RemoteError.incompatible(own: 1...2, other: 3...4, program: "9.9")) { try result.get() }
        #expect(throws: RemoteError.incompatible(own: 3...4, other: 1...2, program: "1")) { try bench.farResult?.get() }
        #expect(!bench.kernel.isPluggedIn)
    }

    @Test("with 100 ms of network, a ceremony costs its own round trips, and nothing else")
    func latency() async throws {
        let bench = RemoteBench(try .new(), delay: .milliseconds(50))
        try await bench.run { bench in
            let client = try await bench.client()
            func count<Value>(_ body: () async throws -> Value) async throws -> (Value, far: Int, near: Int) {
                let (far, near) = (bench.far.framesSent, bench.near.framesSent)
                let value = try await body()
                return (value, bench.far.framesSent - far, bench.near.framesSent - near)
            }
            var creation = registration()
            creation.extensions.createsHMACSecret = true
            let (made, far, near) = try await count { try await client.register(creation) }
            // One request; the news that the key waits, and the reply.
            #expect(far == 1 && near == 2)
            let signed = try await count { try await client.assert(assertion("example.com", made)) }
            #expect(signed.far == 1 && signed.near == 2)
            var request = assertion("example.com", made)
            request.extensions.salts = HMACSecretSalts([UInt8](repeating: 3, count: 32))
            let derived = try await count { try await client.assert(request) }
            #expect(derived.far <= 2 && derived.near <= 3)
            let told = try await count { try await client.freshInfo() }
            #expect(told.far == 0 && told.near == 0)
            await client.close()
        }
    }
}

extension Registration {
    /// The credential's identifier.
    fileprivate var credential: [UInt8] { response.authenticatorData.credential?.id ?? [] }
}
