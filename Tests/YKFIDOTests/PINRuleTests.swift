// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The rules for PINs of the virtual key, as YubiKeys have them.
struct PINRuleTests {
    private func bench(_ version: FIDOFeatures.Version = .v23, pin: String? = "73519024") throws -> Bench {
        var profile = DeviceProfile(serial: 1)
        profile.fido.version = version
        return Bench(key: VirtualKey(try .new(profile)), pins: Bench.PINs(pin))
    }

    @Test("getPINRetries without a PIN answers PIN_NOT_SET", arguments: FIDOFeatures.Version.allCases)
    func retries(_ version: FIDOFeatures.Version) async throws {
        let service = try await bench(version).open()
        await #expect(throws: FIDOError.pinNotSet) { try await service.pinRetries() }
        try await service.setPIN(secret("73519024"))
        try await expect(service.pinRetries().count, is: 8)
        try await service.reset()
        await #expect(throws: FIDOError.pinNotSet) { try await service.pinRetries() }
    }

    @Test("a forced change: PIN_INVALID for the token without permissions, PIN_POLICY_VIOLATION for the others")
    func forcedChange() async throws {
        let bench = try bench(.v21)
        let service = try await bench.open()
        try await service.setPIN(secret("73519024"))
        var rules = AuthenticatorConfig.PINRules()
        rules.forcesChange = true
        try await service.configure(.pinRules(rules))
        #expect(try await service.freshInfo().mustChangePIN)
        let (legacy, modern) = try await token(service, "73519024")
        #expect(legacy == 0x31 && modern == 0x37)
        try await expect(service.pinRetries().count, is: 8)
        await #expect(throws: FIDOError.pinRefused) {
            try await service.changePIN(from: secret("73519024"), to: secret("73519024"))
        }
        try await service.changePIN(from: secret("73519024"), to: secret("42091537"))
        #expect(try await !service.freshInfo().mustChangePIN)
        try await service.changePIN(from: secret("42091537"), to: secret("73519024"))
        #expect(try await !service.freshInfo().mustChangePIN)
        let (again, permitted) = try await token(service, "73519024")
        #expect(again == 0 && permitted == 0)
    }

    /// The statuses of getPinToken and of getPinUvAuthTokenUsingPinWithPermissions, with PIN protocol 2.
    private func token(_ service: FIDOService, _ pin: String) async throws -> (UInt8, UInt8) {
        var statuses: [UInt8] = []
        for subcommand in [5, 9] {
            let request: CBOR.Map = [1: 2, 2: 2]
            let answer = try await service.exchange(raw: [0x06] + CBOR.map(request).encoded)
            let peer = try #require(try CBOR(decoding: Array(answer.dropFirst())).map?[1]?.map)
            let x = try #require(peer[-2]?.bytes), y = try #require(peer[-3]?.bytes)
            let own = try P256KeyAgreement(scalar: Secret([UInt8](repeating: 9, count: 32)))
            let point = own.publicPoint
            let shared = try PINSharedKey(.two, common: try own.shared(with: x + y))
            let hash = Array(HashAlgorithm.sha256.hash(pin.utf8).prefix(16))
            var map: CBOR.Map = [
                1: 2, 2: .int(Int64(subcommand)),
                3: [
                    1: 2, 3: -25, -1: 1, -2: .bytes(Array(point.prefix(32))), -3: .bytes(Array(point.dropFirst(32))),
                ],
                6: .bytes(try shared.encrypt(hash, vector: [UInt8](repeating: 3, count: 16))),
            ]
            if subcommand == 9 { map[9] = 4 }
            do {
                _ = try await service.exchange(raw: [0x06] + CBOR.map(map).encoded)
                statuses.append(0)
            } catch FIDOError.wrongPIN { statuses.append(0x31) } catch FIDOError.pinChangeForced {
                statuses.append(0x37)
            }
        }
        return (statuses[0], statuses[1])
    }

    @Test("the complexity policy is set, asks for another PIN, and refuses trivial ones until a reset")
    func complexity() async throws {
        let bench = try bench()
        let service = try await bench.open()
        try await service.setPIN(secret("73519024"))
        try await expect(service.freshInfo().hasPINComplexityPolicy, is: false)
        var rules = AuthenticatorConfig.PINRules()
        rules.requiresComplexity = true
        rules.rpIDs = ["example.com"]
        try await service.configure(.pinRules(rules))
        let info = try await service.freshInfo()
        #expect(info.hasPINComplexityPolicy == true && info.mustChangePIN)
        for trivial in ["1111", "33333333", "password", "PASSWORD", "123456", "123123"] {
            await #expect(throws: FIDOError.pinRefused, "\(trivial)") {
                try await service.changePIN(from: secret("73519024"), to: secret(trivial))
            }
        }
        try await expect(service.pinRetries().count, is: 8)
        let longest = String(repeating: "x", count: 62) + "y"
        try await service.changePIN(from: secret("73519024"), to: secret(longest))
        bench.pins.type(longest)
        var request = registration()
        request.extensions.asksPINComplexity = true
        request.isResident = true
        let made = try await service.register(request)
        expect(made.extensions.hasPINComplexityPolicy, is: true)
        try await service.reset()
        try await expect(service.freshInfo().hasPINComplexityPolicy, is: false)
        try await service.setPIN(secret("1111"))
    }

    @Test("keys before CTAP 2.3 refuse the policy")
    func older() async throws {
        let service = try await bench(.v21).open()
        try await service.setPIN(secret("73519024"))
        var rules = AuthenticatorConfig.PINRules()
        rules.requiresComplexity = true
        await #expect(throws: FIDOError.ctap(.status(CTAPStatus(rawValue: 0x02), during: "config setMinPINLength"))) {
            try await service.configure(.pinRules(rules))
        }
    }

    @Test("a FIPS key has longer and complex PINs from the start")
    func fips() async throws {
        let key = try VirtualKey.new(.yubiKey5FIPS)
        let service = try await Bench(key: key, pins: Bench.PINs("73519024")).open()
        try await expect(service.freshInfo().minPINLength, is: 8)
        await #expect(throws: FIDOError.pinRefused) { try await service.setPIN(secret("33333333")) }
        try await service.setPIN(secret("11234567"))
    }
}
