// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKHTTP
import YKSecondFactor
import YKStore
import YKTestSupport
import YKTransport
import YKWire

@Suite struct VaultTests {
    private let path = NSTemporaryDirectory() + "ykit-2fa-\(UInt64.random(in: 0 ... .max)).json"

    private func vault(_ isWritable: Bool = true) throws -> SecondFactorVault {
        let key = try StoreKey(CountingRandom())
        return SecondFactorVault(
            StoreFile(path, service: SecondFactorVault.service), isWritable: isWritable, CountingRandom(),
            open: { _ in key },
            seal: { try StoreSeal.secretService($0, name: "keyring", added: 1, CountingRandom()).seal })
    }

    private func session(_ server: String, expiry: Int64? = nil) throws -> KeptSession {
        var trust = HTTPTrust(authorities: "/ca.pem")
        trust.verifiesCertificate = false
        return KeptSession(
            server: try HTTPURL(server), trust: trust, account: "root", role: "admin", expiry: expiry)
    }

    @Test func keepsSessions() async throws {
        let vault = try vault()
        #expect(throws: VaultError.noSession) { _ = try vault.onlySession() }
        let here = try session("https://a.example", expiry: 100)
        try await vault.keep(here, SharedSecret(secret("token")))
        let record = try vault.onlySession()
        try expect(vault.session(at: here.server), is: record)
        let (kept, token) = try await vault.token(of: record, at: 99)
        #expect(kept == here && token.value.copyBytes() == Array("token".utf8))
        await #expect(throws: VaultError.expired) { _ = try await vault.token(of: record, at: 100) }
        try await vault.keep(try session("https://b.example"), SharedSecret(secret("other")))
        #expect(throws: VaultError.severalSessions(["https://a.example/", "https://b.example/"])) {
            _ = try vault.onlySession()
        }
        try vault.remove(record.id)
        try expect(vault.session(at: here.server), is: nil)
    }

    @Test func replacesCookies() async throws {
        let vault = try vault()
        let id = SecondFactorVault.deviceID(try HTTPURL("https://a.example"), "alice")
        try await vault.keep(id: id, [:]) { old in
            expect(old?.value.copyBytes(), is: nil)
            return SharedSecret(secret("1"))
        }
        try await vault.keep(id: id, [:]) { old in
            expect(old?.value.copyBytes(), is: Array("1".utf8))
            return SharedSecret(secret("2"))
        }
        // What fails in between leaves the old one.
        await #expect(throws: SecondFactorError.expired) {
            try await vault.keep(id: id, [:]) { _ in throw SecondFactorError.expired }
        }
        try await vault.keep(id: id, [:]) { old in
            expect(old?.value.copyBytes(), is: Array("2".utf8))
            return SharedSecret(secret("3"))
        }
    }

    @Test func writesNothingInAPlan() async throws {
        let vault = try vault(false)
        try await vault.keep(try session("https://a.example"), SharedSecret(secret("token")))
        try vault.remove("login https://a.example/")
        #expect(throws: VaultError.noSession) { _ = try vault.onlySession() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
