// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Extensions, credential management, large blobs, configuration and U2F on the virtual key.
struct ManagementTests {
    private func service() async throws -> FIDOService {
        let service = try await Bench(pin: "12345").open()
        try await service.setPIN(secret("12345"))
        return service
    }

    private func bytes(_ secret: SharedSecret?) -> [UInt8]? { secret?.value.copyBytes() }

    @Test func makesSecretsFromSalts() async throws {
        let service = try await service()
        var request = registration()
        request.extensions.createsHMACSecret = true
        let made = try await service.register(request)
        #expect(made.extensions.hasHMACSecret)
        let id = try #require(made.response.authenticatorData.credential?.id)
        var ask = AssertionRequest(
            rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: id)])
        ask.extensions.salts = HMACSecretSalts(prf: [1], [2])
        let first = try #require(try await service.assert(ask).first?.extensions.secrets)
        ask.extensions.salts = HMACSecretSalts(prf: [2])
        let second = try #require(try await service.assert(ask).first?.extensions.secrets)
        expect(bytes(first.second), is: bytes(second.first))
        expect(bytes(first.first)?.count, is: 32)
        ask.userVerification = .discouraged
        let unverified = try #require(try await service.assert(ask).first?.extensions.secrets)
        #expect(bytes(unverified.first) != bytes(second.first))
        expect(HMACSecretSalts([1], nil), is: nil)
    }

    @Test func managesCredentials() async throws {
        let service = try await service()
        for (rp, user) in [("a.example", 1), ("a.example", 2), ("b.example", 1)] as [(String, UInt8)] {
            var request = registration(rp, user: user)
            request.isResident = true
            request.extensions.protection = .required
            _ = try await service.register(request)
        }
        try await expect(service.credentialStorage().existing, is: 3)
        let parties = try await service.relyingParties()
        expect(parties.map(\.relyingParty.id), is: ["a.example", "b.example"])
        let credentials = try await service.credentials(of: parties[0])
        expect(credentials.map(\.user.id), is: [[1], [2]])
        expect(credentials.map(\.protection), is: [.required, .required])
        try await service.update(credentials[0].id, user: FIDOUser(id: [1], name: "bob"))
        try await expect(service.credentials(of: parties[0]).first?.user.name, is: "bob")
        try await service.delete(credentials[0].id)
        try await service.delete(credentials[1].id)
        try await expect(service.relyingParties().map(\.relyingParty.id), is: ["b.example"])
        try await expect(service.info().remainingCredentials, is: 99)
    }

    @Test func keepsLargeBlobs() async throws {
        let service = try await service()
        var request = registration()
        request.isResident = true
        request.extensions.createsLargeBlobKey = true
        request.extensions.blob = [1, 2, 3]
        let made = try await service.register(request)
        expect(made.extensions.keptBlob, is: true)
        let key = SharedSecret(Secret(try #require(made.response.largeBlobKey)))
        try await expect(service.largeBlob(key: key), is: nil)
        let long = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 37 ^ $0 >> 3) }
        try await service.setLargeBlob(long, key: key)
        try await expect(service.largeBlob(key: key), is: long)
        let other = SharedSecret(Secret([UInt8](repeating: 1, count: 32)))
        try await service.setLargeBlob([9], key: other)
        try await expect(service.largeBlobUsage().entries, is: 2)
        try await expect(service.removeOrphanedLargeBlobs(keeping: [key]), is: 1)
        try await expect(service.largeBlob(key: other), is: nil)
        #expect(try await service.removeLargeBlob(key: key))
        try await expect(service.removeLargeBlob(key: key), is: false)
        let random = SystemRandom().draw(5000, secret: false)
        await #expect { try await service.setLargeBlob(random, key: key) } throws: { error in
            if case FIDOError.largeBlobs(.tooLarge(_, limit: 4096)) = error { true } else { false }
        }
        var ask = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        ask.extensions.wantsBlob = true
        ask.extensions.wantsLargeBlobKey = true
        let assertion = try #require(try await service.assert(ask).first)
        expect(assertion.extensions.blob, is: [1, 2, 3])
        expect(assertion.response.largeBlobKey, is: made.response.largeBlobKey)
    }

    @Test func configures() async throws {
        let service = try await service()
        try await service.configure(.enableEnterpriseAttestation)
        try await service.configure(.toggleAlwaysUV)
        try await expect(service.info().option(.ep), is: true)
        try await expect(service.info().option(.alwaysUv), is: true)
        var rules = AuthenticatorConfig.PINRules()
        rules.minLength = 6
        rules.rpIDs = ["example.com"]
        try await service.configure(.pinRules(rules))
        let info = try await service.info()
        expect(info.minPINLength, is: 6)
        #expect(info.mustChangePIN)
        await #expect(throws: FIDOError.pinChangeForced) { try await service.register(registration()) }
        try await service.changePIN(from: secret("12345"), to: secret("123456"))
        try await expect(service.info().mustChangePIN, is: false)
    }

    @Test func speaksU2F() async throws {
        let service = try await Bench().open()
        try await expect(service.u2fVersion(), is: "U2F_V2")
        let made = try await service.u2fRegister(challengeHash: hash, applicationHash: hash)
        try made.verify(challengeHash: hash, applicationHash: hash)
        _ = try X509Certificate(der: made.certificate)
        #expect(try await service.u2fKnows(keyHandle: made.keyHandle, applicationHash: hash))
        #expect(try await !service.u2fKnows(keyHandle: [1], applicationHash: hash))
        for (control, presence) in [(U2F.Control.enforcePresence, 1), (.doNotEnforcePresence, 0)]
            as [(U2F.Control, UInt8)]
        {
            let signature = try await service.u2fAuthenticate(
                challengeHash: hash, applicationHash: hash, keyHandle: made.keyHandle, control: control)
            expect(signature.presence, is: presence)
            try signature.verify(challengeHash: hash, applicationHash: hash, publicKey: made.coseKey)
        }
        await #expect(throws: FIDOError.noCredentials) {
            try await service.u2fAuthenticate(challengeHash: hash, applicationHash: hash, keyHandle: [0])
        }
    }
}
