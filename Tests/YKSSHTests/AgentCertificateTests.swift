// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKSSH
import YKTestSupport
import YKWire

/// Certificates beside the keys of an agent, and requests of extensions.
struct AgentCertificateTests {
    private static let names = ["sk_ed25519", "sk_ecdsa"]

    private func certificate(_ name: String) throws -> SSHCertificate {
        try SSHCertificate.parse(line: Vectors.text("certificates/\(name)-cert.pub")).certificate
    }

    private func file(_ name: String) throws -> SecurityKeyFile {
        try SecurityKeyFile(parsing: Vectors.bytes(name))
    }

    /// What ssh-add (OpenSSH 9.2) sends for a key with a certificate: of Ed25519 the point comes again.
    private func addition(
        _ certificate: SSHCertificate, _ file: SecurityKeyFile, _ constraints: [UInt8]? = nil
    ) -> [UInt8] {
        var point: [UInt8] = []
        if case .ed25519(let bytes) = file.publicKey.key { point = AgentTests.string(bytes) }
        return [constraints == nil ? 17 : 25] + AgentTests.string(certificate.type.utf8)
            + AgentTests.string(certificate.blob) + point + AgentTests.string((file.publicKey.application ?? "").utf8)
            + [file.flags.rawValue] + AgentTests.string(file.handle) + AgentTests.string([])
            + AgentTests.string(file.comment.utf8) + (constraints ?? [])
    }

    @Test(arguments: names) func addsListsSignsWithAndDeletesCertificates(name: String) async throws {
        let (file, certificate) = (try file(name), try certificate(name))
        let source = FakeSource()
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: AgentTests.addition(file), on: &connection), is: [6])
        await expect(agent.reply(to: addition(certificate, file), on: &connection), is: [6])
        let listed = await agent.reply(to: [11], on: &connection)
        expect(AgentTests.count(listed), is: 2)
        let keys = [file.publicKey.blob, certificate.blob].map {
            AgentTests.string($0) + AgentTests.string(file.comment.utf8)
        }
        expect(Array(listed.dropFirst(5)), is: keys.flatMap { $0 })
        _ = await agent.reply(to: AgentTests.sign(certificate.blob, [1]), on: &connection)
        let request = try #require(source.requests.withLock { $0.last })
        #expect(request.identity.certificate == certificate && request.identity.publicKey == file.publicKey)
        expect(request.identity.credential, is: file)
        let removal = [18] + AgentTests.string(certificate.blob)
        await expect(agent.reply(to: removal, on: &connection), is: [6])
        await expect(agent.reply(to: removal, on: &connection), is: [5])
        expect(AgentTests.count(await agent.reply(to: [11], on: &connection)), is: 1)
    }

    @Test func malformedAdditionsAreRefused() async throws {
        let (file, certificate) = (try file("sk_ed25519"), try certificate("sk_ed25519"))
        let agent = SSHAgent(FakeSource())
        let whole = addition(certificate, file)
        for count in 1..<whole.count {
            var connection = SSHAgent.Connection()
            await expect(agent.reply(to: Array(whole.prefix(count)), on: &connection), is: [5])
        }
        var connection = SSHAgent.Connection()
        let other = try self.file("sk_ecdsa")
        let mixed = addition(try self.certificate("sk_ecdsa"), file)
        await expect(agent.reply(to: mixed, on: &connection), is: [5])
        await expect(agent.reply(to: addition(certificate, other), on: &connection), is: [5])
        // A certificate of an ordinary key comes with its private key, which is not taken.
        let usual = try self.certificate("user")
        let ordinary =
            [17] + AgentTests.string(usual.type.utf8) + AgentTests.string(usual.blob) + AgentTests.string([1])
        await expect(agent.reply(to: ordinary, on: &connection), is: [5])
        expect(AgentTests.count(await agent.reply(to: [11], on: &connection)), is: 0)
    }

    @Test("a certificate is the same key: the constraints of one hold for the other")
    func constraintsHoldForBoth() async throws {
        let (file, certificate) = (try file("sk_ed25519"), try certificate("sk_ed25519"))
        let source = FakeSource()
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: AgentTests.addition(file, [2]), on: &connection), is: [6])
        await expect(agent.reply(to: addition(certificate, file), on: &connection), is: [6])
        for blob in [file.publicKey.blob, certificate.blob] {
            _ = await agent.reply(to: AgentTests.sign(blob, [1]), on: &connection)
        }
        expect(source.requests.withLock { $0.map(\.needsConfirmation) }, is: [true, true])
    }

    @Test func aKeyOfASlotIsOfferedWithItsCertificate() async throws {
        let certificate = try certificate("user")
        let plain = SSHIdentity(publicKey: certificate.publicKey, comment: "PIV 9a")
        let certified = try #require(plain.with(certificate))
        expect(plain.with(try self.certificate("rsa")), is: nil)
        let source = FakeSource([plain, certified])
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        expect(AgentTests.count(await agent.reply(to: [11], on: &connection)), is: 2)
        _ = await agent.reply(to: AgentTests.sign(certificate.blob, [1]), on: &connection)
        #expect(source.requests.withLock { $0.last?.identity } == certified)
    }
}

/// A source with an extension, which answers with what it was asked.
private final class Echo: SSHKeySource {
    let asked = Mutex<[SSHExtensionRequest]>([])
    let extensions: Set<String> = ["echo@example.com"]

    func identities() async -> [SSHIdentity] { [] }
    func sign(_ request: SSHSignatureRequest) async -> SSHSignature? { nil }
    func answer(_ request: SSHExtensionRequest) async -> [UInt8]? {
        asked.withLock { $0.append(request) }
        return request.content.isEmpty ? nil : request.content
    }
}

/// Extensions that use a key follow the rules of signatures.
struct AgentExtensionTests {
    private static let name = AgentTests.string("echo@example.com".utf8)
    private static let message: [UInt8] = [27] + name + [1, 2, 3]

    @Test func areAnsweredOrFail() async throws {
        let agent = SSHAgent(Echo())
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: Self.message, on: &connection), is: [29] + Self.name + [1, 2, 3])
        await expect(agent.reply(to: [27] + Self.name, on: &connection), is: [28])
        await expect(agent.reply(to: [27] + AgentTests.string("other@x".utf8), on: &connection), is: [5])
        await expect(agent.reply(to: [27], on: &connection), is: [28])
    }

    @Test func aLockedAgentRefuses() async throws {
        let source = Echo()
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: [22] + AgentTests.string("secret".utf8), on: &connection), is: [6])
        await expect(agent.reply(to: Self.message, on: &connection), is: [28])
        #expect(source.asked.withLock { $0.isEmpty })
    }

    @Test func aConfirmationIsAskedForOfEverything() async throws {
        let source = Echo()
        let agent = SSHAgent(source, confirmsAll: true)
        var connection = SSHAgent.Connection()
        _ = await agent.reply(to: Self.message, on: &connection)
        expect(source.asked.withLock { $0.map(\.needsConfirmation) }, is: [true])
    }

    @Test func aForwardedClientIsOneOfAnotherMachine() async throws {
        let source = Echo()
        let agent = SSHAgent(source)
        var connection = try await AgentSafetyTests.forwarded(agent)
        await expect(agent.reply(to: Self.message, on: &connection).first, is: 29)
        expect(source.asked.withLock { $0.map(\.isForwarded) }, is: [true])
        let closed = SSHAgent(source, allowsForwarding: false)
        connection = try await AgentSafetyTests.forwarded(closed)
        await expect(closed.reply(to: Self.message, on: &connection), is: [28])
        var here = SSHAgent.Connection()
        await expect(closed.reply(to: Self.message, on: &here).first, is: 29)
        expect(source.asked.withLock { $0.count }, is: 2)
    }

    @Test func aForgedSessionEndsThem() async throws {
        let agent = SSHAgent(Echo())
        var connection = SSHAgent.Connection()
        let forged = try AgentTests.binding([1], isForwarding: false, isBroken: true)
        await expect(agent.reply(to: forged, on: &connection), is: [28])
        await expect(agent.reply(to: Self.message, on: &connection), is: [28])
    }
}
