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

/// The device of a guard, used by a program: a virtual key behind it.
@Suite(.serialized) struct GuardEndsTests {
    private func registration(
        _ site: String = "example.com", _ name: String = "alice", _ verification: UserVerification = .required
    ) -> RegistrationRequest {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: site),
            user: FIDOUser(id: Array(name.utf8), name: name))
        (request.isResident, request.userVerification) = (true, verification)
        return request
    }

    private func assertion(_ site: String = "example.com") -> AssertionRequest {
        var request = AssertionRequest(rpID: site, clientDataHash: [UInt8](repeating: 2, count: 32), allowList: [])
        request.userVerification = .required
        return request
    }

    private func bench(
        _ user: NearUser = NearUser(true), pins: [String] = Array(repeating: "73519024", count: 9),
        _ policy: GuardPolicy = GuardPolicy()
    ) async throws -> RemoteBench {
        RemoteBench(try await FIDOFeatures.Version.v21.key(pin: "73519024"), user, pins: pins, guarding: policy)
    }

    @Test("one of several accounts is chosen by the user, and the program sees no other")
    func accounts() async throws {
        let bench = try await bench()
        bench.user.choice = 1
        try await bench.run { bench in
            let client = try await bench.client()
            for name in ["alice", "bob", "carol"] { _ = try await client.register(registration("example.com", name)) }
            let signed = try await client.assert(assertion())
            expect(signed.count, is: 1)
            expect(signed.first?.response.user?.id, is: Array("bob".utf8))
            await client.close()
        }
        expect(bench.user.offered, is: [["'carol'", "'bob'", "'alice'"]])
        #expect(bench.events.contains(.answered(.signIn(site: "example.com"), status: 0)))
    }

    @Test("no account chosen is a no")
    func noAccount() async throws {
        let bench = try await bench()
        try await bench.run { bench in
            let client = try await bench.client()
            for name in ["alice", "bob"] { _ = try await client.register(registration("example.com", name)) }
            await #expect(throws: FIDOError.denied) { _ = try await client.assert(assertion()) }
            await client.close()
        }
        expect(bench.user.offered.count, is: 1)
    }

    @Test("what guards secrets of this machine is asked for by name, and works")
    func localSecrets() async throws {
        let bench = try await bench()
        try await bench.run { bench in
            let client = try await bench.client()
            _ = try await client.register(registration("ssh:"))
            await client.close()
        }
        expect(bench.user.asked, is: [.register(site: "ssh:", user: "alice")])
    }

    @Test("a search without a touch finds a credential, and its signature is over another hash")
    func searches() async throws {
        let bench = try await bench()
        try await bench.run { bench in
            let client = try await bench.client()
            _ = try await client.register(registration())
            try await expect(bench.ask(client, CTAP.signIn(up: false)), is: 0)
            await client.close()
        }
        expect(bench.user.asked.count, is: 1)
        #expect(bench.events.contains(.searched(site: "example.com", status: 0)))
    }

    @Test("the key's model is shown, no PIN, and verification by the key itself")
    func presented() async throws {
        let bench = try await bench()
        try await bench.run { bench in
            let client = try await bench.client()
            let (seen, real) = (try await client.info(), try await bench.opened.withLock { $0 }?.info())
            #expect(seen.aaguid == real?.aaguid && seen.option(.uv) == true && seen.option(.clientPin) == nil)
            await client.close()
        }
    }

    @Test("a wrong PIN is no more than a denial for the program, and the tries it sees never change")
    func wrongPIN() async throws {
        let bench = try await bench(pins: ["00000000"])
        try await bench.run { bench in
            let client = try await bench.client()
            await #expect(throws: FIDOError.denied) { _ = try await client.register(registration()) }
            try await expect(client.exchange(raw: CTAP.pin(1)), is: [0, 0xA1, 3, 8])
            await client.close()
        }
        expect(bench.key.state.fido.pinRetries, is: 7)
        guard case .failed(_, .wrongPIN)? = bench.events.last(where: { if case .failed = $0 { true } else { false } })
        else {
            Issue.record("the user is not told: \(bench.events)")
            return
        }
    }

    @Test("a question is withdrawn with its request, and silence is a no")
    func withdrawn() async throws {
        let bench = try await bench(NearUser(nil))
        try await bench.run(questionTime: .milliseconds(200)) { bench in
            let client = try await bench.client()
            for _ in 0..<6 { await #expect(throws: FIDOError.denied) { _ = try await client.register(registration()) } }
            await client.close()
        }
        expect(bench.user.asked.count, is: 5)
        expect(bench.events.last, is: .refused(.register(site: "example.com", user: "alice"), .tooManyQuestions))
    }
}
