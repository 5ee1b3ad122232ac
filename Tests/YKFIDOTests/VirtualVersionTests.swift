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
        _ features: FIDOFeatures, pin: String? = "12345", inputs: VirtualInputs = VirtualInputs()
    ) throws -> Bench {
        var profile = DeviceProfile(serial: 1)
        profile.fido = features
        return Bench(key: VirtualKey(try .new(profile), inputs: inputs), pins: Bench.PINs(pin))
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
            #expect(names.last == "FIDO_2_1_PRE" && info.map.count == 11 && info.pinProtocols == [2, 1])
            #expect(
                !info.hasPermissions && info.option(.credMgmt) == nil && info.option(.credentialMgmtPreview) == true)
            await #expect(throws: FIDOError.self) { try await service.exchange(raw: [0x0A]) }
            try await expect(service.relyingParties().count, is: 1)
        case .v21:
            #expect(names.last == "FIDO_2_1" && info.map[25] == nil)
            try await expect(service.relyingParties().count, is: 1)
        case .v23:
            #expect(names.last == "FIDO_2_3" && info.maxPINLength == 63 && info.configCommands == [1, 2, 3])
            expect(names, is: ["U2F_V2", "FIDO_2_0", "FIDO_2_1_PRE", "FIDO_2_1", "FIDO_2_3"])
            #expect(info.transportsForReset == ["usb", "nfc"] && info.needsLongTouchForReset == false)
        }
        try await service.select()
        try await service.reset()
        try await expect(service.info().hasPIN, is: false)
    }

    @Test("firmware 5.8 has CTAP 2.3, and says of itself what a key of that firmware says") func firmware58()
        async throws
    {
        let service = try await Bench(version: FirmwareVersion(5, 8, 0)).open()
        let info = try await service.info()
        expect(info.versions.map(\.rawValue), is: ["U2F_V2", "FIDO_2_0", "FIDO_2_1_PRE", "FIDO_2_1", "FIDO_2_3"])
        #expect(info.extensions.contains("previewSign") && info.extensions.contains("hmac-secret-mc"))
        #expect(info.transports == ["usb", "smart-card", "nfc"] && info.transportsForReset == info.transports)
        #expect(info.attestationFormats == [.packed] && info.remainingCredentials == 100)
        #expect(info.needsLongTouchForReset == true && info.longTouchSeconds == 5)
        #expect(info.configCommands == [1, 2, 3] && info.option(.perCredMgmtRO) == true)
        #expect(info.encryptedIdentifier?.count == 32 && info.encryptedStoreState?.count == 32)
        var request = registration()
        request.attestationFormats = [.none]
        try await expect(service.register(request).response.format, is: .packed)
        await #expect(throws: FIDOError.unsupported("authenticatorConfigCommands 4")) {
            try await service.configure(.enableLongTouchForReset)
        }
    }

    /// A firmware with what its YubiKeys say: version, extensions, PIN protocols, algorithms, and how many credentials fit.
    private static let firmwares: [(FirmwareVersion, FIDOFeatures.Version, [String], [UInt64], Int, UInt64?)] = [
        (FirmwareVersion(5, 1, 2), .v20, ["hmac-secret"], [1], 0, nil),
        (FirmwareVersion(5, 2, 4), .v21Pre, ["credProtect", "hmac-secret"], [1], 2, nil),
        (FirmwareVersion(5, 4, 3), .v21Pre, ["credProtect", "hmac-secret"], [2, 1], 2, nil),
        (
            FirmwareVersion(5, 5, 6), .v21, ["credBlob", "credProtect", "hmac-secret", "largeBlobKey", "minPinLength"],
            [2, 1], 2, 25
        ),
        (
            FirmwareVersion(5, 7, 4), .v21, ["credBlob", "credProtect", "hmac-secret", "largeBlobKey", "minPinLength"],
            [2, 1], 5, 100
        ),
    ]

    @Test("what YubiKeys of each firmware say of themselves", arguments: firmwares)
    func eachFirmware(
        _ firmware: FirmwareVersion, _ version: FIDOFeatures.Version, _ extensions: [String], _ protocols: [UInt64],
        _ algorithms: Int, _ room: UInt64?
    ) async throws {
        let bench = try Bench(version: firmware)
        expect(bench.key.state.profile.fido, is: FIDOFeatures(version: version))
        let info = try await bench.open().info()
        #expect(info.extensions == extensions && info.pinProtocols == protocols)
        #expect(info.algorithms.count == algorithms && info.remainingCredentials == room)
        #expect(info.speaks(.fido21Pre) == (version > .v20) && info.speaks(.fido21) == (version == .v21))
        expect(info.firmwareVersion, is: (firmware < FirmwareVersion(5, 4, 0) ? nil : firmware.number))
        try expect(VirtualKeyState(bench.key.state.json), is: bench.key.state)
    }

    @Test("a key before firmware 5.7 stores 25 credentials") func room() async throws {
        let bench = try Bench(pin: "12345", version: FirmwareVersion(5, 4, 3))
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        for user in UInt8(1)...25 {
            var request = registration(user: user)
            request.isResident = true
            _ = try await service.register(request)
        }
        let storage = try await service.credentialStorage()
        #expect(storage.existing == 25 && storage.remaining == 0)
        var request = registration(user: 26)
        request.isResident = true
        let last = request
        await #expect(throws: FIDOError.full) { try await service.register(last) }
    }

    @Test(
        "payments at other sites: at registration, in an assertion, in the list of credentials",
        arguments: [true, false])
    func payments(_ isAllowed: Bool) async throws {
        let bench = try Bench(pin: "12345", version: FirmwareVersion(5, 8, 0))
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        var request = registration()
        request.isResident = true
        request.extensions.allowsThirdPartyPayment = isAllowed
        _ = try await proved(service, request)
        var assertion = AssertionRequest(rpID: "example.com", clientDataHash: hash)
        assertion.extensions.asksThirdPartyPayment = true
        try await expect(service.assert(assertion).first?.extensions.allowsThirdPartyPayment, is: isAllowed)
        let party = try #require(try await service.relyingParties().first)
        try await expect(service.credentials(of: party).map(\.allowsThirdPartyPayment), is: [isAllowed])
        let older = try Bench(pin: "12345")
        let before = try await older.open()
        try await before.setPIN(secret("12345"))
        _ = try await before.register(request)
        try await expect(before.assert(assertion).first?.extensions.allowsThirdPartyPayment, is: nil)
        let listed = try #require(try await before.relyingParties().first)
        try await expect(before.credentials(of: listed).map(\.allowsThirdPartyPayment), is: [nil])
    }

    @Test("a long touch for a reset can be required where the key offers it") func longTouch() async throws {
        var features = FIDOFeatures(version: .v23)
        features.canRequireLongTouch = true
        let bench = try bench(features)
        let service = try await bench.open()
        try await service.setPIN(secret("12345"))
        try await expect(service.freshInfo().configCommands, is: [1, 2, 3, 4])
        try await service.configure(.enableLongTouchForReset)
        try await expect(service.freshInfo().needsLongTouchForReset, is: true)
        let state = try VirtualKeyState(bench.key.state.json)
        #expect(state == bench.key.state && state.profile.fido.canRequireLongTouch)
        try await service.reset()
        try await expect(service.freshInfo().needsLongTouchForReset, is: false)
        let older = try await self.bench(FIDOFeatures(), pin: nil).open()
        try await expect(older.info().longTouchSeconds, is: 10)
        await #expect(throws: FIDOError.unsupported("longTouchForReset")) {
            try await older.configure(.enableLongTouchForReset)
        }
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
            expect(made.response.authenticatorData.credential?.publicKey.algorithm, is: algorithm)
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
        expect(again.first.value.copyBytes(), is: first.first.value.copyBytes())
        expect(again.second?.value.copyBytes(), is: first.second?.value.copyBytes())
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
        try await expect(service.freshInfo().option(.ep), is: true)
        for (kind, rp, isNamed) in [(1, "example.com", true), (1, "example.org", false), (2, "example.org", true)] {
            var request = registration(rp)
            request.enterpriseAttestation = UInt64(kind)
            let made = try await service.register(request)
            expect(made.response.isEnterpriseAttestation, is: isNamed)
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
            expect(made.response.format, is: given)
        }
    }

    @Test("a reset only soon after power-up")
    func resetWindow() async throws {
        let service = try await bench(FIDOFeatures(resetWindow: 0), pin: nil).open()
        await #expect(throws: FIDOError.self) { try await service.reset() }
        try await bench(FIDOFeatures(resetWindow: 60), pin: nil).open().reset()
    }
}

extension FirmwareVersion {
    /// The version as a key has it in getInfo.
    fileprivate var number: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
