// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKSSH
import YKTestSupport

/// What an agent does for clients on other machines, and what it keeps to itself.
struct AgentSafetyTests {
    private typealias Message = AgentTests

    /// What a browser has signed (clientDataJSON).
    private static let webLogin = Array(
        #"{"type":"webauthn.get","challenge":"AAAA","origin":"https://bank.example"}"#.utf8)

    /// A credential of an application.
    private static func credential(_ application: String) throws -> SecurityKeyFile {
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        guard case .ed25519(let point) = file.publicKey.key else { throw SSHError.unsupportedKey("") }
        let blob =
            Message.string("sk-ssh-ed25519@openssh.com".utf8) + Message.string(point)
            + Message.string(application.utf8)
        return SecurityKeyFile(
            publicKey: try SSHPublicKey(blob: blob), flags: file.flags, handle: file.handle, comment: "innocent")
    }

    private static func count(_ source: FakeSource) -> Int { source.requests.withLock { $0.count } }

    static func forwarded(_ agent: SSHAgent) async throws -> SSHAgent.Connection {
        var connection = SSHAgent.Connection()
        let reply = await agent.reply(to: try Message.binding([1], isForwarding: true), on: &connection)
        expect(reply, is: [6])
        return connection
    }

    @Test(arguments: [false, true]) func anAgentThatConfirmsAllAsksForEachKey(confirmsAll: Bool) async throws {
        let slot = SSHIdentity(publicKey: try Vectors.key("ed25519"), comment: "PIV 9a")
        let file = try Self.credential("ssh:")
        let source = FakeSource([slot])
        let agent = SSHAgent(source, confirmsAll: confirmsAll)
        await agent.offer(file)
        var connection = SSHAgent.Connection()
        for blob in [slot.blob, file.publicKey.blob] {
            _ = await agent.reply(to: Message.sign(blob, [1]), on: &connection)
        }
        expect(source.requests.withLock { $0.map(\.needsConfirmation) }, is: [confirmsAll, confirmsAll])
    }

    @Test func aCredentialOfAWebsiteSignsDataOfSSHOnly() async throws {
        let source = FakeSource()
        let agent = SSHAgent(source)
        let file = try Self.credential("bank.example")
        let (key, blob) = (file.publicKey, file.publicKey.blob)
        await agent.offer(file)
        var here = SSHAgent.Connection()
        for data in [Self.webLogin, Array("SSHSIG".utf8), Message.login(session: [1], key: try Vectors.key("ed25519"))]
        {
            await expect(agent.reply(to: Message.sign(blob, data), on: &here), is: [5])
        }
        expect(Self.count(source), is: 0)
        expect(source.refusals.withLock { $0 }, is: [.website, .website, .website])
        let signed = SSHFileSignature.signedData(namespace: "git", hash: .sha512, digest: [1])
        for data in [signed, Message.login(session: [1], key: key), Message.login(session: [1], key: key, host: [8])] {
            _ = await agent.reply(to: Message.sign(blob, data), on: &here)
        }
        expect(Self.count(source), is: 3)
        var forwarded = try await Self.forwarded(agent)
        await expect(agent.reply(to: Message.addition(file), on: &forwarded), is: [6])
        for data in [Self.webLogin, signed, Message.login(session: [1], key: key)] {
            await expect(agent.reply(to: Message.sign(blob, data), on: &forwarded), is: [5])
        }
        expect(Self.count(source), is: 3)
    }

    @Test(arguments: ["ssh:", "ssh:work"]) func aCredentialForSSHSignsAnything(application: String) async throws {
        let source = FakeSource()
        let agent = SSHAgent(source)
        let file = try Self.credential(application)
        await agent.offer(file)
        var forwarded = try await Self.forwarded(agent)
        _ = await agent.reply(to: Message.sign(file.publicKey.blob, Self.webLogin), on: &forwarded)
        expect(Self.count(source), is: 1)
    }

    /// As OpenSSH's match_pattern_list compares them.
    @Test(arguments: [
        ("ssh:*", "ssh:work", true), ("ssh:*", "bank.example", false), ("bank.example", "bank.example", true),
        ("ssh:*,*.example", "bank.example", true), ("*.example,!bank.*", "bank.example", false),
        ("!bank.*,*.example", "bank.example", false), ("!bank.*", "shop.example", false), ("*", "bank.example", true),
        ("bank.exampl?", "bank.example", true), ("bank", "bank.example", false), ("", "bank.example", false),
        ("bank.example", "ssh:", false), ("BANK.example", "bank.example", false),
    ])
    func theApplicationsThatSignAnythingAreNamed(patterns: String, application: String, isNamed: Bool) async throws {
        let source = FakeSource()
        let agent = SSHAgent(source, websafe: patterns)
        let file = try Self.credential(application)
        let blob = file.publicKey.blob
        await agent.offer(file)
        let signed = SSHFileSignature.signedData(namespace: "git", hash: .sha512, digest: [1])
        var here = SSHAgent.Connection()
        var forwarded = try await Self.forwarded(agent)
        _ = await agent.reply(to: Message.sign(blob, Self.webLogin), on: &here)
        _ = await agent.reply(to: Message.sign(blob, Self.webLogin), on: &forwarded)
        expect(Self.count(source), is: (isNamed ? 2 : 0))
        _ = await agent.reply(to: Message.sign(blob, signed), on: &here)
        _ = await agent.reply(to: Message.sign(blob, signed), on: &forwarded)
        expect(Self.count(source), is: (isNamed ? 4 : 1))
    }

    @Test func aRequestSaysThroughWhichHostsItComes() async throws {
        let source = FakeSource([SSHIdentity(publicKey: try Vectors.key("ed25519"), comment: "PIV 9a")])
        let agent = SSHAgent(source)
        var connection = try await Self.forwarded(agent)
        let reply = await agent.reply(to: try Message.binding([2], isForwarding: true, seed: 4), on: &connection)
        expect(reply, is: [6])
        await expect(agent.reply(to: try Message.binding([5], isForwarding: false, seed: 5), on: &connection), is: [6])
        let key = source.keys[0].publicKey
        _ = await agent.reply(to: Message.sign(key.blob, Message.login(session: [5], key: key)), on: &connection)
        let request = try #require(source.requests.withLock { $0.first })
        expect(request.hops, is: [try Message.host(3).key.blob, try Message.host(4).key.blob])
        #expect(request.hostKey == (try Message.host(5).key.blob) && request.isForwarded)
    }

    @Test func theFingerprintOfAHostIsThatOfItsKey() throws {
        let key = try Message.host(3).key
        func certificate(_ key: SSHPublicKey) throws -> [UInt8] {
            let start = Message.string("ssh-ed25519-cert-v01@openssh.com".utf8) + Message.string([9])
            return start + key.blob.dropFirst(15) + [1, 2]
        }
        let certified = try certificate(key)
        expect(SSHPublicKey.fingerprint(ofHost: key.blob), is: key.fingerprint)
        expect(SSHPublicKey.fingerprint(ofHost: certified), is: key.fingerprint)
        expect(SSHPublicKey.fingerprint(ofHost: [1]), is: SSHPublicKey.fingerprint(of: [1]))
    }

    @Test func keysOfTheOtherAgentHaveTheSameRules() async throws {
        let passed = Mutex<[[UInt8]]>([])
        let source = FakeSource()
        let (agent, closed) = (SSHAgent(source), SSHAgent(source, allowsForwarding: false))
        let key = try Vectors.key("ecdsab256")
        func connection() -> SSHAgent.Connection {
            SSHAgent.Connection { message in
                passed.withLock { $0.append(message) }
                return [6]
            }
        }
        let (binding, forwarding) = (
            try Message.binding([1], isForwarding: false), try Message.binding([1], isForwarding: true)
        )
        let login = Message.sign(key.blob, Message.login(session: [1], key: key))
        var bound = connection()
        await expect(agent.reply(to: binding, on: &bound), is: [6])
        await expect(agent.reply(to: login, on: &bound), is: [6])
        let other = Message.sign(key.blob, Message.login(session: [2], key: key))
        await expect(agent.reply(to: other, on: &bound), is: [5], "the login of another session")
        expect(passed.withLock { $0 }, is: [binding, login], "the other agent knows the session")
        await expect(agent.reply(to: [20] + Message.string("/lib/x.so".utf8) + Message.string([]), on: &bound), is: [5])
        expect(passed.withLock { $0.count }, is: 2, "no library is loaded for another machine")

        var forwarded = connection()
        await expect(closed.reply(to: forwarding, on: &forwarded), is: [6])
        await expect(closed.reply(to: login, on: &forwarded), is: [5], "--no-forwarding")
        expect(passed.withLock { $0.count }, is: 3)
        let website = try Self.credential("bank.example").publicKey
        for blob in [website.blob, Message.string("sk-unknown@openssh.com".utf8)] {
            await expect(agent.reply(to: Message.sign(blob, Self.webLogin), on: &bound), is: [5])
        }
        var forged = connection()
        let broken = try Message.binding([1], isForwarding: false, isBroken: true)
        await expect(agent.reply(to: broken, on: &forged), is: [28])
        await expect(agent.reply(to: login, on: &forged), is: [5])
        _ = await agent.reply(to: [11], on: &forged)
        expect(passed.withLock { $0.count }, is: 3, "a connection with a forged session reaches nobody")
        var here = connection()
        await expect(agent.reply(to: [20] + Message.string("/lib/x.so".utf8) + Message.string([]), on: &here), is: [6])
    }

    @Test func addingAgainDoesNotLoosen() async throws {
        let source = FakeSource()
        let agent = SSHAgent(source)
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        var here = SSHAgent.Connection()
        await expect(agent.reply(to: Message.addition(file, [2]), on: &here), is: [6])
        var forwarded = try await Self.forwarded(agent)
        for blob in [[18] + Message.string(file.publicKey.blob), [19]] {
            _ = await agent.reply(to: blob, on: &forwarded)
            expect(Message.count(await agent.reply(to: [11], on: &here)), is: 1, "nor is it removed for that")
        }
        let bare = SecurityKeyFile(publicKey: file.publicKey, flags: [], handle: [9], comment: "x")
        await expect(agent.reply(to: Message.addition(bare), on: &forwarded), is: [6])
        _ = await agent.reply(to: Message.sign(file.publicKey.blob, [1]), on: &forwarded)
        await expect(agent.reply(to: Message.addition(file), on: &here), is: [6])
        _ = await agent.reply(to: Message.sign(file.publicKey.blob, [1]), on: &here)
        expect(source.requests.withLock { $0.map(\.needsConfirmation) }, is: [true, true])
        expect(source.requests.withLock { $0.map(\.identity.credential) }, is: [file, file])
        await expect(agent.reply(to: [18] + Message.string(file.publicKey.blob), on: &here), is: [6])
        await expect(agent.reply(to: Message.addition(file), on: &here), is: [6])
        _ = await agent.reply(to: Message.sign(file.publicKey.blob, [1]), on: &here)
        expect(source.requests.withLock { $0.last?.needsConfirmation }, is: false, "removed and added")
    }

    @Test func aHiddenKeyIsNotAddedAgain() async throws {
        let agent = SSHAgent(FakeSource())
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        var here = SSHAgent.Connection()
        let restriction = Message.destinations(try Message.end(nil) + Message.end(4))
        await expect(agent.reply(to: Message.addition(file, restriction), on: &here), is: [6])
        var forwarded = try await Self.forwarded(agent)
        expect(Message.count(await agent.reply(to: [11], on: &forwarded)), is: 0)
        await expect(agent.reply(to: Message.addition(file), on: &forwarded), is: [5])
        _ = await agent.reply(to: [19], on: &forwarded)
        await expect(agent.reply(to: Message.addition(file), on: &forwarded), is: [5])
        await expect(agent.reply(to: [18] + Message.string(file.publicKey.blob), on: &forwarded), is: [5])
        expect(Message.count(await agent.reply(to: [11], on: &forwarded)), is: 0)
        await expect(agent.reply(to: Message.addition(file), on: &here), is: [6])
        let reply = await agent.reply(to: Message.sign(file.publicKey.blob, [1]), on: &here)
        expect(reply, is: [5], "as restricted as before")
    }

    @Test func passphrasesAreComparedOneAtATime() async throws {
        let agent = SSHAgent(FakeSource())
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: [22] + Message.string("right".utf8), on: &connection), is: [6])
        let begin = ContinuousClock.now
        await withTaskGroup(of: [UInt8].self) { group in
            for guess in 0..<4 {
                group.addTask {
                    var connection = SSHAgent.Connection()
                    return await agent.reply(to: [23] + Message.string("guess\(guess)".utf8), on: &connection)
                }
            }
            for await reply in group { expect(reply, is: [5]) }
        }
        // 100, 200, 300 and 400 ms, one after the other.
        #expect(begin.duration(to: .now) >= .seconds(1))
        await expect(agent.reply(to: [23] + Message.string("right".utf8), on: &connection), is: [6])
    }
}
