// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The virtual key as each version of CTAP, through the service.
struct VirtualVersionTests {
    private func bench(
        _ features: FIDOFeatures, pin: String? = "12345", world: VirtualWorld = VirtualWorld()
    ) throws -> Bench {
        var profile = DeviceProfile(serial: 1)
        profile.fido = features
        return Bench(key: VirtualKey(try .new(profile), world: world), pins: Bench.PINs(pin))
    }

    private func proved(_ service: FIDOService, _ request: RegistrationRequest) async throws -> Registration {
        let made = try await service.register(request)
        let object = made.response.attestationObject
        _ = try AttestationVerification(rpID: "example.com").check(object, clientDataHash: hash)
        let credential = try #require(object.authenticatorData.credential)
        let assertion = try #require(
            try await service.assert(
                AssertionRequest(
                    rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: credential.id)])
            ).first)
        try AssertionVerification(rpID: "example.com", publicKey: credential.publicKey).check(
            assertion.response.authenticatorData, signature: assertion.response.signature, clientDataHash: hash)
        return made
    }

    @Test("a PIN, a credential that is remembered, and what getInfo says", arguments: FIDOFeatures.Version.allCases)
    func ceremonies(_ version: FIDOFeatures.Version) async throws {
        let bench = try bench(FIDOFeatures(version: version))
        let service = try await FIDOService.open(
            hid: bench.key.reportLink(), environment: .instant,
            interaction: FIDOInteraction(pin: { [pins = bench.pins] in pins.give($0) }))
        try await service.setPIN(secret("12345"))
        await #expect(throws: FIDOError.wrongPIN(PINRetries(count: 7))) {
            try await service.verifyPIN(secret("wrong"))
        }
        try await service.verifyPIN(secret("12345"))
        var request = registration()
        request.isResident = true
        request.extensions.createsHMACSecret = true
        let made = try await proved(service, request)
        #expect(made.response.authenticatorData.flags.contains(.userVerified))
        #expect(made.extensions.hasHMACSecret)
        let info = try await service.freshInfo()
        let names = info.versions.map(\.rawValue)
        switch version {
        case .v20:
            #expect(names == ["U2F_V2", "FIDO_2_0"] && info.pinProtocols == [1] && info.map.count == 6)
            await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x0A]) }
            await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x41]) }
        case .v21Pre:
            #expect(names.last == "FIDO_2_1_PRE" && info.map.count == 8)
            await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x0A]) }
            #expect(try await service.relyingParties().count == 1)
        case .v21:
            #expect(names.last == "FIDO_2_1" && info.map[25] == nil)
            #expect(try await service.relyingParties().count == 1)
        case .v23:
            #expect(names.last == "FIDO_2_3" && info.maxPINLength == 63 && info.configCommands == [1, 2, 3])
            #expect(info.transportsForReset == ["usb", "nfc"] && info.needsLongTouchForReset == false)
        }
        try await service.select()
        try await service.reset()
        #expect(try await service.info().hasPIN == false)
    }

    @Test("every algorithm signs", arguments: [COSEAlgorithm.es256, .edDSA, .es384, .es512, .rs256])
    func algorithms(_ algorithm: COSEAlgorithm) async throws {
        let bench = try bench(FIDOFeatures(version: .v23), pin: nil)
        let service = try await bench.open()
        for isResident in [false, true] {
            var request = registration()
            request.algorithms = [algorithm]
            request.isResident = isResident
            let made = try await proved(service, request)
            #expect(made.response.authenticatorData.credential?.publicKey.algorithm == algorithm)
        }
    }

    @Test("secrets from salts at registration")
    func secretsAtRegistration() async throws {
        let bench = try bench(FIDOFeatures(version: .v23), pin: nil)
        let service = try await bench.open()
        let salts = try #require(HMACSecretSalts([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)))
        var request = registration()
        request.extensions.createsHMACSecret = true
        request.extensions.salts = salts
        request.extensions.asksPINComplexity = true
        let made = try await service.register(request)
        let first = try #require(made.extensions.secrets)
        let id = try #require(made.response.authenticatorData.credential?.id)
        var assertion = AssertionRequest(
            rpID: "example.com", clientDataHash: hash, allowList: [CredentialDescriptor(id: id)])
        assertion.extensions.salts = salts
        let again = try #require(try await service.assert(assertion).first?.extensions.secrets)
        #expect(again.first.value.copyBytes() == first.first.value.copyBytes())
        #expect(again.second?.value.copyBytes() == first.second?.value.copyBytes())
    }

    @Test("enterprise attestation names the key, where it is allowed to")
    func enterpriseAttestation() async throws {
        let bench = try bench(FIDOFeatures(enterpriseRelyingParties: ["example.com"]))
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        var request = registration()
        request.enterpriseAttestation = 1
        let early = request
        await #expect(throws: FIDOError.self) { try await service.register(early) }
        try await service.configure(.enableEnterpriseAttestation)
        #expect(try await service.freshInfo().option(.ep) == true)
        for (kind, rp, isNamed) in [(1, "example.com", true), (1, "example.org", false), (2, "example.org", true)] {
            var request = registration(rp)
            request.enterpriseAttestation = UInt64(kind)
            let made = try await service.register(request)
            #expect(made.response.isEnterpriseAttestation == isNamed)
            let object = made.response.attestationObject
            let trust = try AttestationVerification(rpID: rp).check(object, clientDataHash: hash)
            guard case .certificates(let chain) = trust else {
                Issue.record("\(trust)")
                continue
            }
            let text = String(decoding: chain[0], as: UTF8.self)
            #expect(text.contains("ykit virtual key 1") == isNamed && text.contains("Authenticator Attestation"))
        }
    }

    @Test("attestation in a format that is welcome")
    func formats() async throws {
        let service = try await bench(FIDOFeatures(), pin: nil).open()
        for (wanted, given): ([AttestationFormat], AttestationFormat) in [
            ([.none, .packed], .none), ([.packed, .none], .packed), ([.init(rawValue: "tpm")], .packed),
            ([.init(rawValue: "tpm"), .none], .none),
        ] {
            var request = registration()
            request.attestationFormats = wanted
            let made = try await service.register(request)
            #expect(made.response.format == given)
        }
    }

    @Test("a reset only soon after power-up")
    func resetWindow() async throws {
        let service = try await bench(FIDOFeatures(resetWindow: 0), pin: nil).open()
        await #expect(throws: FIDOError.self) { try await service.reset() }
        try await bench(FIDOFeatures(resetWindow: 60), pin: nil).open().reset()
    }
}
