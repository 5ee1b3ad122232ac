// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKHSMAuth

/// Sessions, and the replies that are refused.
struct SessionTests {
    @Test func readsDigits() throws {
        #expect(try Bench.password("").isDefault)
        let digits = "00112233445566778899aAbBcCdDeEfF"
        expect(Hex.encode(try Bench.password(digits).copyBytes()), is: digits.lowercased())
    }

    /// A key that does not look at the cryptogram: the host does.
    @Test func aCryptogramIsComparedHereToo() async throws {
        let reply = try Hex.decode(
            "b06f1ac987912ebedc1bf0e02a6b5d85ead6c3a596ea8675bf31d349abb52c74c2c61e96ab2c58e9837ad0e7d06ee90c9000")
        let link = ScriptedLink { command in command[1] == 0xA4 ? [0x79, 3, 5, 7, 4, 0x90, 0] : reply }
        let service = try await Bench.open(link)
        let (host, hsm) = (try Hex.decode("67fcf1feb5f1d883"), try Hex.decode("ed763dbf493090bb"))
        _ = try await service.sessionKeys(
            HSMAuthLabel("s"), hostChallenge: host, hsmChallenge: hsm, cryptogram: Hex.decode("3317be36d3cc9e41"),
            password: Bench.password(""))
        await #expect(throws: HSMAuthError.notAuthentic) {
            try await service.sessionKeys(
                HSMAuthLabel("s"), hostChallenge: host, hsmChallenge: hsm, cryptogram: Hex.decode("3317be36d3cc9e42"),
                password: Bench.password(""))
        }
    }

    /// The HSM's half of an asymmetric session, for labels of all lengths: 18 bytes and more exceed a short command.
    @Test(arguments: [1, 17, 18, 64])
    func asymmetricSessions(_ length: Int) async throws {
        let service = try await Bench.open(inputs: VirtualInputs(random: SystemRandom()))
        let label = try HSMAuthLabel(String(repeating: "l", count: length))
        try await service.add(
            label, .generatedP256, password: Bench.password("pw"), managementKey: .defaultManagementKey())
        guard case .ec(_, let hostKey) = try await service.publicKey(of: label) else { return }
        let hostPoint = try await service.challenge(label, password: Bench.password("pw"))
        let fixed = try P256KeyAgreement(scalar: Secret([UInt8](repeating: 7, count: 32)))
        let ephemeral = try P256KeyAgreement(scalar: Secret([UInt8](repeating: 9, count: 32)))
        let hsmPoint = [0x04] + ephemeral.publicPoint
        let shared = try Secret(
            ephemeral.shared(with: Array(hostPoint.dropFirst())).copyBytes()
                + fixed.shared(with: Array(hostKey.dropFirst())).copyBytes())
        let keys = try HashAlgorithm.sha256.x963(shared, sharedInfo: [0x3C, 0x88, 0x10], length: 64).copyBytes()
        let receipt = try AESCMAC.code(hsmPoint + hostPoint, key: Secret(keys[..<16]))
        let session = try await service.sessionKeys(
            label, hostPoint: hostPoint, hsmPoint: hsmPoint, hsmKey: [0x04] + fixed.publicPoint, receipt: receipt,
            password: Bench.password("pw"))
        let bytes = [session.encryption, session.mac, session.responseMAC].flatMap { $0.value.copyBytes() }
        expect(bytes, is: Array(keys[16...]))
        // The ephemeral key is good for one session.
        await #expect(throws: HSMAuthError.noChallenge) {
            try await service.sessionKeys(
                label, hostPoint: hostPoint, hsmPoint: hsmPoint, hsmKey: [0x04] + fixed.publicPoint, receipt: receipt,
                password: Bench.password("pw"))
        }
        let second = try await service.challenge(label, password: Bench.password("pw"))
        await #expect(throws: HSMAuthError.notAuthentic) {
            try await service.sessionKeys(
                label, hostPoint: second, hsmPoint: hsmPoint, hsmKey: [0x04] + fixed.publicPoint,
                receipt: [UInt8](repeating: 0, count: 16), password: Bench.password("pw"))
        }
    }

    @Test func aMissingTouchCostsNoTry() async throws {
        let service = try await Bench.open(inputs: VirtualInputs(touch: { _ in .notTouched }))
        let label = try HSMAuthLabel("t")
        try await service.add(
            label, HSMAuthKey.derived(from: Secret(utf8: "pwd")), password: Bench.password("pw"), needsTouch: true,
            managementKey: .defaultManagementKey())
        let challenge = [UInt8](repeating: 1, count: 8)
        await #expect(throws: HSMAuthError.touchTimeout) {
            try await service.sessionKeys(
                label, hostChallenge: challenge, hsmChallenge: challenge, password: Bench.password("no"))
        }
        try await expect(service.credentials().first?.retries, is: 8)
    }

    /// Every truncation and every changed byte of a reply is an error or a value, never a trap.
    @Test func hostileReplies() throws {
        let list = try Hex.decode("7206260061626308720727016162636408")
        for end in 0...list.count {
            var reader = ByteReader(Array(list[..<end]))
            _ = try? ListCredentials().decode(&reader)
        }
        for place in list.indices {
            for value in [UInt8(0), 1, 2, 3, 0x7F, 0x80, 0x84, 0xFF] {
                var changed = list
                changed[place] = value
                var reader = ByteReader(changed)
                _ = try? ListCredentials().decode(&reader)
            }
        }
        for count in [0, 7, 8, 9, 64, 65, 66, 130] {
            var reader = ByteReader([UInt8](repeating: 4, count: count))
            let challenge = try? GetHostChallenge(HSMAuthLabel("x")).decode(&reader)
            expect((challenge != nil), is: [8, 65].contains(count))
        }
    }
}
