// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHSMAuth
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The service against the virtual key: credentials, passwords, limits.
struct CredentialTests {
    @Test func storesListsAndDeletes() async throws {
        let service = try await Bench.open()
        try await expect(service.credentials(), is: [])
        let key = try HSMAuthKey.derived(from: Secret(utf8: "password"))
        try await service.add(
            HSMAuthLabel("one"), key, password: Bench.password("pw"), managementKey: .defaultManagementKey())
        try await service.add(
            HSMAuthLabel("two"), .generatedP256, password: Bench.password("pw"), needsTouch: true,
            managementKey: .defaultManagementKey())
        let list = try await service.credentials()
        expect(list.map(\.label.text), is: ["one", "two"])
        expect(list.map(\.algorithm), is: [.aes128, .p256])
        #expect(list.map(\.needsTouch) == [false, true] && list.map(\.retries) == [8, 8])
        await #expect(throws: HSMAuthError.credentialExists(try HSMAuthLabel("one"))) {
            try await service.add(
                HSMAuthLabel("one"), key, password: Bench.password("pw"), managementKey: .defaultManagementKey())
        }
        try await service.delete(HSMAuthLabel("one"), managementKey: .defaultManagementKey())
        try await expect(service.credentials().map(\.label.text), is: ["two"])
        await #expect(throws: HSMAuthError.noSuchCredential(try HSMAuthLabel("one"))) {
            try await service.delete(HSMAuthLabel("one"), managementKey: .defaultManagementKey())
        }
        try await service.reset()
        try await expect(service.credentials(), is: [])
    }

    @Test func publicKeysBelongToP256CredentialsOnly() async throws {
        let service = try await Bench.open()
        try await service.add(
            HSMAuthLabel("a"), HSMAuthKey.derivedP256(from: Secret(utf8: "pwd")), password: Bench.password(""),
            managementKey: .defaultManagementKey())
        try await service.add(
            HSMAuthLabel("s"), HSMAuthKey.derived(from: Secret(utf8: "pwd")), password: Bench.password(""),
            managementKey: .defaultManagementKey())
        let key = try await service.publicKey(of: HSMAuthLabel("a"))
        let point =
            "04acb6933c5e454f9fa454a02c943405cdc9eb60302e4ce5f3f90c939439903a43"
            + "ce98fa0c8840bde715d866eb292ec37b53499f060c3e47b9815c240e57b07372"
        expect(key, is: .ec(.p256, point: try Hex.decode(point)))
        await #expect(throws: HSMAuthError.notAsymmetric(try HSMAuthLabel("s"))) {
            try await service.publicKey(of: HSMAuthLabel("s"))
        }
    }

    @Test func wrongManagementKeysCostTriesUntilNoneIsLeft() async throws {
        let service = try await Bench.open()
        for left in (1...7).reversed() {
            await #expect(throws: HSMAuthError.wrongManagementKey(triesLeft: left)) {
                try await service.changeManagementKey(from: Bench.password("no"), to: Bench.password("new"))
            }
            try await expect(service.managementKeyRetries(), is: left)
        }
        await #expect(throws: HSMAuthError.managementKeyBlocked) {
            try await service.changeManagementKey(from: Bench.password("no"), to: Bench.password("new"))
        }
        await #expect(throws: HSMAuthError.managementKeyBlocked) {
            try await service.changeManagementKey(from: .defaultManagementKey(), to: Bench.password("new"))
        }
        try await service.reset()
        try await expect(service.managementKeyRetries(), is: 8)
    }

    @Test func aRightManagementKeyGivesTheTriesBack() async throws {
        let service = try await Bench.open()
        await #expect(throws: HSMAuthError.wrongManagementKey(triesLeft: 7)) {
            try await service.changeManagementKey(from: Bench.password("no"), to: Bench.password("new"))
        }
        try await service.changeManagementKey(from: .defaultManagementKey(), to: Bench.password("new"))
        try await expect(service.managementKeyRetries(), is: 8)
        await #expect(throws: HSMAuthError.wrongManagementKey(triesLeft: 7)) {
            try await service.changeManagementKey(from: .defaultManagementKey(), to: Bench.password("new"))
        }
    }

    @Test func theEighthWrongPasswordDeletesTheCredential() async throws {
        let service = try await Bench.open(FirmwareVersion(5, 8, 0))
        let label = try HSMAuthLabel("one")
        try await service.add(
            label, HSMAuthKey.derived(from: Secret(utf8: "pwd")), password: Bench.password("pw"),
            managementKey: .defaultManagementKey())
        for left in (1...7).reversed() {
            await #expect(throws: HSMAuthError.wrongPassword(label, triesLeft: left)) {
                try await service.changePassword(of: label, from: Bench.password("no"), to: Bench.password("new"))
            }
            try await expect(service.credentials().first?.retries, is: left)
        }
        await #expect(throws: HSMAuthError.credentialLost(label)) {
            try await service.changePassword(of: label, from: Bench.password("no"), to: Bench.password("new"))
        }
        try await expect(service.credentials(), is: [])
    }

    @Test func passwordsChangeFromFirmware58On() async throws {
        let label = try HSMAuthLabel("one")
        let service = try await Bench.open(FirmwareVersion(5, 8, 0))
        try await service.add(
            label, HSMAuthKey.derived(from: Secret(utf8: "pwd")), password: Bench.password("pw"),
            managementKey: .defaultManagementKey())
        try await service.changePassword(of: label, from: Bench.password("pw"), to: Bench.password("new"))
        try await service.setPassword(of: label, to: Bench.password("third"), managementKey: .defaultManagementKey())
        let challenge = [UInt8](repeating: 1, count: 8)
        await #expect(throws: HSMAuthError.wrongPassword(label, triesLeft: 7)) {
            try await service.sessionKeys(
                label, hostChallenge: challenge, hsmChallenge: challenge, password: Bench.password("new"))
        }
        _ = try await service.sessionKeys(
            label, hostChallenge: challenge, hsmChallenge: challenge, password: Bench.password("third"))
        let older = try await Bench.open(FirmwareVersion(5, 7, 4))
        await #expect(throws: HSMAuthError.unsupported(.passwordChange, has: FirmwareVersion(5, 7, 4))) {
            try await older.changePassword(of: label, from: Bench.password("pw"), to: Bench.password("new"))
        }
    }

    @Test func firmwareBefore56HasNoAsymmetricCredentials() async throws {
        let service = try await Bench.open(FirmwareVersion(5, 4, 3))
        await #expect(throws: HSMAuthError.unsupported(.asymmetric, has: FirmwareVersion(5, 4, 3))) {
            try await service.add(
                HSMAuthLabel("a"), .generatedP256, password: Bench.password(""), managementKey: .defaultManagementKey())
        }
        await #expect(throws: HSMAuthError.unsupported(.challenge, has: FirmwareVersion(5, 4, 3))) {
            try await service.challenge(HSMAuthLabel("a"))
        }
        await #expect(throws: HSMAuthError.card(.appletMissing(.hsmAuth))) {
            try await Bench.open(FirmwareVersion(5, 4, 2))
        }
    }

    @Test func theMemoryEnds() async throws {
        let service = try await Bench.open()
        let key = try HSMAuthKey.derived(from: Secret(utf8: "pwd"))
        for number in 0..<32 {
            try await service.add(
                HSMAuthLabel("\(number)"), key, password: Bench.password(""), managementKey: .defaultManagementKey())
        }
        await #expect(throws: HSMAuthError.full) {
            try await service.add(
                HSMAuthLabel("x"), key, password: Bench.password(""), managementKey: .defaultManagementKey())
        }
    }

    @Test func labelsAndPasswordsHaveLimits() throws {
        #expect(throws: HSMAuthError.badLabel(bytes: 0)) { try HSMAuthLabel("") }
        #expect(throws: HSMAuthError.badLabel(bytes: 65)) { try HSMAuthLabel(String(repeating: "x", count: 65)) }
        #expect(throws: HSMAuthError.passwordTooLong(bytes: 17)) {
            _ = try Bench.password("12345678901234567")
        }
        #expect(throws: HSMAuthError.badKeyLength(31)) {
            try HSMAuthKey.symmetric(Secret([UInt8](repeating: 0, count: 31)))
        }
    }
}
