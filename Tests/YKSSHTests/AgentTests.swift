// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKSSH
import YKTestSupport
import YKWire

/// A source of keys that counts, and signs with nothing.
final class FakeSource: SSHKeySource {
    let keys: [SSHIdentity]
    let requests = Mutex<[SSHSignatureRequest]>([])
    let inside = Mutex((now: 0, most: 0))
    let refusals = Mutex<[SSHAgentRefusal]>([])
    let signature: SSHSignature?

    init(_ keys: [SSHIdentity] = [], signature: SSHSignature? = nil) {
        self.keys = keys
        self.signature = signature
    }

    func identities() async -> [SSHIdentity] { keys }

    func sign(_ request: SSHSignatureRequest) async -> SSHSignature? {
        inside.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        await Task.yield()
        requests.withLock { $0.append(request) }
        inside.withLock { $0.now -= 1 }
        return signature
    }

    func refused(_ refusal: SSHAgentRefusal) { refusals.withLock { $0.append(refusal) } }
}

/// The agent's answers, message by message.
struct AgentTests {
    static func string(_ bytes: some Collection<UInt8>) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    static func sign(_ blob: [UInt8], _ data: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [13] + string(blob) + string(data) + [0, 0, 0, flags]
    }

    static func login(session: [UInt8], key: SSHPublicKey, host: [UInt8]? = nil) -> [UInt8] {
        let method = host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com"
        return string(session) + [50] + string("bob".utf8) + string("ssh-connection".utf8) + string(method.utf8) + [1]
            + string(key.type.utf8) + string(key.blob) + (host.map { string($0) } ?? [])
    }

    static func identity(_ name: String) throws -> SSHIdentity {
        SSHIdentity(publicKey: try Vectors.key(name), comment: name)
    }

    static func addition(_ file: SecurityKeyFile, _ constraints: [UInt8]? = nil) -> [UInt8] {
        [constraints == nil ? 17 : 25] + file.publicKey.blob + [file.flags.rawValue] + string(file.handle) + string([])
            + string(file.comment.utf8) + (constraints ?? [])
    }

    static func count(_ reply: [UInt8]) -> Int { reply[0] == 12 ? Int(reply[4]) : -1 }

    @Test func offersAndSigns() async throws {
        let signature = try SSHSignature([UInt8](repeating: 7, count: 64), by: Vectors.key("ed25519"))
        let source = FakeSource([try Self.identity("ed25519"), try Self.identity("rsab2048")], signature: signature)
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 2)
        let blob = source.keys[0].publicKey.blob
        let reply = await agent.reply(to: Self.sign(blob, [1, 2, 3], flags: 4), on: &connection)
        expect(reply, is: [14] + Self.string(signature.wire))
        let request = try #require(source.requests.withLock { $0.first })
        #expect(request.data == [1, 2, 3] && request.hash == .sha512 && request.purpose == .other(bytes: 3))
        #expect(!request.isForwarded && request.hostKey == nil && !request.needsConfirmation)
        await expect(agent.reply(to: Self.sign([0], [1]), on: &connection), is: [5])
        await expect(agent.reply(to: [99], on: &connection), is: [5])
        await expect(agent.reply(to: [], on: &connection), is: [5])
        await expect(agent.reply(to: [27] + Self.string("other@x".utf8), on: &connection), is: [5])
    }

    @Test func purposesAreRead() throws {
        let key = try Vectors.key("ed25519")
        expect(
            SignaturePurpose(Self.login(session: [9], key: key)), is: .login(user: "bob", session: [9], hostKey: nil))
        #expect(
            SignaturePurpose(Self.login(session: [9], key: key, host: [8]))
                == .login(user: "bob", session: [9], hostKey: [8]))
        let file = SSHFileSignature.signedData(namespace: "git", hash: .sha512, digest: [1])
        expect(SignaturePurpose(file), is: .file(namespace: "git"))
        expect(SignaturePurpose(Self.login(session: [9], key: key) + [0]), is: .other(bytes: 116))
        expect(SignaturePurpose(file.dropLast()), is: .other(bytes: file.count - 1))
        expect(SignaturePurpose(file + [0]), is: .other(bytes: file.count + 1))
        let login = Self.login(session: [9], key: key)
        expect(SignaturePurpose(login, by: key.blob), is: .login(user: "bob", session: [9], hostKey: nil))
        expect(SignaturePurpose(login, by: [1]), is: .other(bytes: 115), "a login with another key")
        expect(SignaturePurpose(Self.login(session: [], key: key)), is: .other(bytes: 114), "no session")
    }

    @Test func takesCredentialsAndNoUsualKeys() async throws {
        let agent = SSHAgent(FakeSource())
        var connection = SSHAgent.Connection()
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        await expect(agent.reply(to: Self.addition(file), on: &connection), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 1)
        await expect(agent.reply(to: [17] + Self.string("ssh-ed25519".utf8) + [1, 2], on: &connection), is: [5])
        let provider: [UInt8] = [255] + Self.string("sk-provider@openssh.com".utf8) + Self.string("internal".utf8)
        await expect(agent.reply(to: Self.addition(file, [2] + provider), on: &connection), is: [6])
        let restricted: [UInt8] = [255] + Self.string("restrict-destination-v00@openssh.com".utf8) + Self.string([])
        await expect(agent.reply(to: Self.addition(file, restricted), on: &connection), is: [5])
        let unknown: [UInt8] = [255] + Self.string("other@x".utf8) + Self.string([])
        await expect(agent.reply(to: Self.addition(file, unknown), on: &connection), is: [5])
        await expect(agent.reply(to: Self.addition(file, [9]), on: &connection), is: [5])
        await expect(agent.reply(to: [18] + Self.string(file.publicKey.blob), on: &connection), is: [6])
        await expect(agent.reply(to: [18] + Self.string(file.publicKey.blob), on: &connection), is: [5])
        await agent.offer(file)
        await expect(agent.reply(to: [19], on: &connection), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 0)
    }

    @Test func aConstraintIsKept() async throws {
        let source = FakeSource()
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ecdsa"))
        await expect(agent.reply(to: Self.addition(file, [2]), on: &connection), is: [6])
        _ = await agent.reply(to: Self.sign(file.publicKey.blob, [1]), on: &connection)
        expect(source.requests.withLock { $0.map(\.needsConfirmation) }, is: [true])
        #expect(source.requests.withLock { $0.first?.identity.credential?.handle } == file.handle)
        await expect(agent.reply(to: Self.addition(file, [1, 0, 0, 0, 0]), on: &connection), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 0)
    }

    @Test func aLockedAgentOffersNothing() async throws {
        let agent = SSHAgent(FakeSource([try Self.identity("ed25519")]))
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: [23] + Self.string("x".utf8), on: &connection), is: [5])
        await expect(agent.reply(to: [22] + Self.string([]), on: &connection), is: [5])
        await expect(agent.reply(to: [22] + Self.string("x".utf8), on: &connection), is: [6])
        await expect(agent.reply(to: [22] + Self.string("y".utf8), on: &connection), is: [5])
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 0)
        let blob = try Vectors.key("ed25519").blob
        await expect(agent.reply(to: Self.sign(blob, [1]), on: &connection), is: [5])
        await expect(agent.reply(to: [19], on: &connection), is: [5])
        await expect(agent.reply(to: [23] + Self.string("y".utf8), on: &connection), is: [5])
        await expect(agent.reply(to: [23] + Self.string("x".utf8), on: &connection), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 1)
    }

    static func host(_ seed: UInt8) throws -> (secret: PrivateKey, key: SSHPublicKey) {
        let host = try PrivateKey(ed25519: Secret([UInt8](repeating: seed, count: 32)))
        return (host, try #require(SSHPublicKey(host.publicKey)))
    }

    /// A session as `session-bind@openssh.com` tells it, with a host key made here.
    static func binding(
        _ session: [UInt8], isForwarding: Bool, isBroken: Bool = false, seed: UInt8 = 3, isCertificate: Bool = false
    ) throws -> [UInt8] {
        let (host, key) = try host(seed)
        let signature = try SSHSignature(host.sign(isBroken ? [0] : session, .sha512), by: key)
        // A certificate has a nonce after its type, and much behind the key.
        let certificate =
            string("ssh-ed25519-cert-v01@openssh.com".utf8) + string([9]) + key.blob.dropFirst(15) + [1, 2]
        return [27] + string("session-bind@openssh.com".utf8) + string(isCertificate ? certificate : key.blob)
            + string(session) + string(signature.wire) + [isForwarding ? 1 : 0]
    }

    /// One end of a step: user, name, host keys.
    static func end(_ seed: UInt8?, user: String = "", isAuthority: Bool = false) throws -> [UInt8] {
        let name = seed.map { "host\($0)" } ?? ""
        let key = try seed.map { string(try host($0).key.blob) + [isAuthority ? 1 : 0] } ?? []
        return string(string(user.utf8) + string(name.utf8) + string([]) + key)
    }

    static func destinations(_ steps: [UInt8]...) -> [UInt8] {
        [255] + string("restrict-destination-v00@openssh.com".utf8) + string(steps.flatMap { string($0 + string([])) })
    }

    /// From here to host 3 as b*, and from there to host 4.
    @Test func aKeyIsForItsDestinations() async throws {
        let source = FakeSource()
        let agent = SSHAgent(source)
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        let key = file.publicKey
        let restrictions = Self.destinations(
            try Self.end(nil) + Self.end(3, user: "b*"), try Self.end(3) + Self.end(4))
        var here = SSHAgent.Connection()
        await expect(agent.reply(to: Self.addition(file, restrictions), on: &here), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &here)), is: 1)
        func signs(_ data: [UInt8], _ bindings: [UInt8]...) async -> (shown: Int, signed: Bool) {
            var connection = SSHAgent.Connection()
            for binding in bindings { _ = await agent.reply(to: binding, on: &connection) }
            let shown = Self.count(await agent.reply(to: [11], on: &connection))
            let before = source.requests.withLock { $0.count }
            _ = await agent.reply(to: Self.sign(key.blob, data), on: &connection)
            return (shown, source.requests.withLock { $0.count } > before)
        }
        let login = Self.login(session: [1], key: key)
        let first = try Self.binding([1], isForwarding: false)
        let through = try Self.binding([2], isForwarding: true)
        #expect(await signs(login) == (1, false), "without a session")
        #expect(await signs([1, 2, 3], first) == (1, false), "data of an unknown kind")
        #expect(await signs(login, first) == (1, true))
        #expect(await signs(Self.login(session: [1], key: key, host: [8]), first) == (1, false), "another host's key")
        #expect(await signs(login, try Self.binding([1], isForwarding: false, seed: 4)) == (0, false), "another host")
        #expect(await signs(login, try Self.binding([1], isForwarding: false, isCertificate: true)) == (0, false))
        #expect(await signs(login, through) == (1, false), "what is forwarded is for the host behind")
        let behind = try Self.binding([1], isForwarding: false, seed: 4)
        #expect(await signs(login, through, behind) == (1, false), "a forwarded login that names no host key")
        let named = Self.login(session: [1], key: key, host: try Self.host(4).key.blob)
        #expect(await signs(named, through, behind) == (1, true))
        let other = Self.login(session: [1], key: key, host: try Self.host(3).key.blob)
        #expect(await signs(other, through, behind) == (1, false), "the host key of another session")
        #expect(await signs(named, through, try Self.binding([1], isForwarding: false, seed: 5)) == (0, false))
        #expect(await signs(named, through, try Self.binding([1], isForwarding: true, seed: 4)) == (0, false))
        let wrong = Self.destinations(try Self.end(nil) + Self.end(3, user: "root"))
        await expect(agent.reply(to: Self.addition(file, wrong), on: &here), is: [6])
        #expect(await signs(login, first) == (1, false), "another user")
        let authority = Self.destinations(try Self.end(nil) + Self.end(3, isAuthority: true))
        await expect(agent.reply(to: Self.addition(file, authority), on: &here), is: [6])
        #expect(await signs(login, first) == (0, false), "authorities permit nothing")
        for bad in [try Self.end(nil, user: "x") + Self.end(3), try Self.end(nil) + Self.end(nil), []] {
            await expect(agent.reply(to: Self.addition(file, Self.destinations(bad)), on: &here), is: [5])
        }
        let twice = authority + authority
        await expect(agent.reply(to: Self.addition(file, twice), on: &here), is: [5])
    }

    @Test("session bindings have the rules of OpenSSH's agent")
    func bindings() async throws {
        let source = FakeSource([try Self.identity("ed25519")])
        let agent = SSHAgent(source)
        let key = source.keys[0].publicKey
        let (forwarding, login) = (
            try Self.binding([1], isForwarding: true), try Self.binding([1], isForwarding: false)
        )
        for (bindings, replies, signs) in [
            ([login, login], [[6], [28]] as [[UInt8]], true), ([forwarding, forwarding], [[6], [6]], true),
            ([forwarding, login], [[6], [6]], true), ([login, forwarding], [[6], [28]], false),
            ([forwarding, try Self.binding([1], isForwarding: true, seed: 4)], [[6], [28]], false),
            ([forwarding, try Self.binding([2], isForwarding: true)], [[6], [6]], false),
        ] {
            var connection = SSHAgent.Connection()
            for (binding, reply) in zip(bindings, replies) {
                await expect(agent.reply(to: binding, on: &connection), is: reply)
            }
            let before = source.requests.withLock { $0.count }
            _ = await agent.reply(to: Self.sign(key.blob, Self.login(session: [1], key: key)), on: &connection)
            expect((source.requests.withLock { $0.count } > before), is: signs)
        }
    }

    @Test("a client cannot fill the agent, and one on another machine cannot keep others from adding keys")
    func limits() async throws {
        let agent = SSHAgent(FakeSource())
        var here = SSHAgent.Connection()
        var forwarded = try await AgentSafetyTests.forwarded(agent)
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        func add(_ number: Int, _ connection: inout SSHAgent.Connection, comment: Int = 5) async throws -> Bool {
            let key = try #require(
                SSHPublicKey(
                    cose: COSEKey(
                        okp: .ed25519, algorithm: .edDSA,
                        x: Array(try Self.host(UInt8(number % 250) + 1).key.blob.suffix(32))),
                    application: "ssh:\(number)"))
            let one = SecurityKeyFile(
                publicKey: key, flags: file.flags, handle: file.handle, comment: String(repeating: "c", count: comment))
            return await agent.reply(to: Self.addition(one), on: &connection) == [6]
        }
        func added(_ numbers: Range<Int>, _ connection: inout SSHAgent.Connection) async throws -> Int {
            var count = 0
            for number in numbers where try await add(number, &connection) { count += 1 }
            return count
        }
        #expect(try await !add(0, &here, comment: 1025))
        try await expect(added(0..<100, &forwarded), is: 32)
        #expect(try await add(0, &forwarded), "again")
        try await expect(added(1000..<1300, &here), is: 256 - 32)
        await expect(agent.reply(to: [19], on: &here), is: [6])
        #expect(try await add(7, &forwarded))
        #expect(try await add(8, &forwarded, comment: 1024))
    }

    @Test("the hosts of a constraint count")
    func constraintLimits() async throws {
        let agent = SSHAgent(FakeSource())
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        var here = SSHAgent.Connection()
        await expect(agent.reply(to: Self.addition(file), on: &here), is: [6])
        var forwarded = try await AgentSafetyTests.forwarded(agent)
        var count = 0
        for number in 0..<100 {
            let user = String(repeating: "u", count: 1000 + number)
            let hosts = Self.destinations(try Self.end(nil) + Self.end(3, user: user), try Self.end(3) + Self.end(4))
            if await agent.reply(to: Self.addition(file, hosts), on: &forwarded) == [6] { count += 1 }
        }
        #expect((40...60).contains(count), "64 KiB")
    }

    @Test("a key that is not a point is refused, a comment in another encoding is not")
    func additions() async throws {
        let agent = SSHAgent(FakeSource())
        var here = SSHAgent.Connection()
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ecdsa"))
        var message = Self.addition(file)
        let comment = Self.string(file.comment.utf8)
        message.removeLast(comment.count)
        await expect(agent.reply(to: message + Self.string([0xC4, 0xE3, 0x0A]), on: &here), is: [6])
        expect(Self.count(await agent.reply(to: [11], on: &here)), is: 1)
        guard case .ec(_, var point) = file.publicKey.key else { return }
        point[64] ^= 1
        let key =
            Self.string("sk-ecdsa-sha2-nistp256@openssh.com".utf8) + Self.string("nistp256".utf8) + Self.string(point)
            + Self.string("ssh:".utf8)
        let rest = Array(message.dropFirst(1 + file.publicKey.blob.count))
        await expect(agent.reply(to: [17] + key + rest + comment, on: &here), is: [5])
        for twice in [[1, 0, 0, 0, 9, 1, 0, 0, 0, 9], [2, 2]] as [[UInt8]] {
            await expect(agent.reply(to: Self.addition(file, twice), on: &here), is: [5])
        }
    }

    @Test("a list is never longer than what clients read")
    func longLists() async throws {
        let agent = SSHAgent(FakeSource([try Self.identity("ed25519")]))
        var connection = SSHAgent.Connection { _ in
            let one = Self.string("key".utf8) + [0, 1, 0x11, 0x70] + [UInt8](repeating: 0x78, count: 70_000)
            return [12, 0, 0, 0, 5] + one.map { $0 }
                + (2...5).flatMap { number in
                    Self.string("key\(number)".utf8) + [0, 1, 0x11, 0x70] + [UInt8](repeating: 0x78, count: 70_000)
                }
        }
        let list = await agent.reply(to: [11], on: &connection)
        #expect(Self.count(list) == 4 && list.count < 256 << 10)
    }

    @Test func aHostMayHaveACertificate() async throws {
        let source = FakeSource([try Self.identity("ed25519")])
        let agent = SSHAgent(source)
        var connection = SSHAgent.Connection()
        let binding = try Self.binding([1], isForwarding: false, isCertificate: true)
        await expect(agent.reply(to: binding, on: &connection), is: [6])
        _ = await agent.reply(to: Self.sign(source.keys[0].publicKey.blob, [1]), on: &connection)
        expect(source.requests.withLock { $0.count }, is: 1)
    }

    @Test func sessionsBindLogins() async throws {
        let source = FakeSource([try Self.identity("ed25519")])
        let agent = SSHAgent(source, allowsForwarding: false)
        let key = source.keys[0].publicKey
        var connection = SSHAgent.Connection()
        await expect(agent.reply(to: try Self.binding([1], isForwarding: false), on: &connection), is: [6])
        _ = await agent.reply(to: Self.sign(key.blob, Self.login(session: [1], key: key)), on: &connection)
        expect(source.requests.withLock { $0.count }, is: 1)
        #expect(source.requests.withLock { $0.first?.hostKey } != nil)
        _ = await agent.reply(to: Self.sign(key.blob, Self.login(session: [2], key: key)), on: &connection)
        expect(source.requests.withLock { $0.count }, is: 1)
        await expect(agent.reply(to: try Self.binding([2], isForwarding: true), on: &connection), is: [28])
        await expect(agent.reply(to: Self.sign(key.blob, [1]), on: &connection), is: [5])

        var forwarded = SSHAgent.Connection()
        await expect(agent.reply(to: try Self.binding([1], isForwarding: true), on: &forwarded), is: [6])
        await expect(agent.reply(to: Self.sign(key.blob, [1]), on: &forwarded), is: [5])
        var forged = SSHAgent.Connection()
        let broken = try Self.binding([1], isForwarding: false, isBroken: true)
        await expect(agent.reply(to: broken, on: &forged), is: [28])
        await expect(agent.reply(to: Self.sign(key.blob, [1]), on: &forged), is: [5])
        expect(source.requests.withLock { $0.count }, is: 1)
    }

    @Test func otherKeysAreLookedForElsewhere() async throws {
        let other = try Vectors.key("ecdsab256").blob
        let own = try Self.identity("ed25519")
        let asked = Mutex<[UInt8]>([])
        let agent = SSHAgent(FakeSource([own]))
        var connection = SSHAgent.Connection { message in
            asked.withLock { $0.append(message[0]) }
            guard message[0] == 11 else { return [6] }
            return [12, 0, 0, 0, 2] + Self.string(other) + Self.string("there".utf8)
                + Self.string(own.publicKey.blob) + Self.string([])
        }
        expect(Self.count(await agent.reply(to: [11], on: &connection)), is: 2)
        await expect(agent.reply(to: Self.sign(other, [1]), on: &connection), is: [6])
        await expect(agent.reply(to: [17] + Self.string("ssh-ed25519".utf8), on: &connection), is: [6])
        expect(asked.withLock { $0 }, is: [11, 13, 17])
    }

    @Test func theSourceServesOneAtATime() async throws {
        let source = FakeSource([try Self.identity("ed25519")])
        let agent = SSHAgent(source)
        let message = Self.sign(source.keys[0].publicKey.blob, [1])
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var connection = SSHAgent.Connection()
                    _ = await agent.reply(to: message, on: &connection)
                }
            }
        }
        #expect(source.requests.withLock { $0.count } == 50 && source.inside.withLock { $0.most } == 1)
    }
}
