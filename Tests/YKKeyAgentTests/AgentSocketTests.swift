// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKHardware
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKKeyAgent
@testable import YKSSH

/// The socket of an agent whose keys are answered by a task.
struct AgentSocketTests {
    private final class Folder {
        let path = "/tmp/ykagent.\(UInt32.random(in: 0 ... .max))"
        init() { mkdir(path, 0o700) }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var socket: String { path + "/agent" }
    }

    /// SSH_AGENTC_REQUEST_IDENTITIES, and its answer without keys.
    private static let (list, none): ([UInt8], [UInt8]) = ([11], [12, 0, 0, 0, 0])

    @Test func serves() async throws {
        let folder = Folder()
        let path = folder.socket
        let socket = try AgentSocket(at: path)
        expect(socket.path, is: path)
        #expect(throws: AgentSocketError.agentListens(path: path)) { try AgentSocket(at: path) }
        let keys = AgentKeys { _ in }
        let agent = SSHAgent(keys)
        let cancellation = Cancellation()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        _ = SystemThread.start {
            socket.serve(agent, upstream: path, until: cancellation)
            keys.end()
            end.finish()
        }
        let task = Task {
            for await job in keys.jobs {
                switch job {
                case .identities: keys.list([])
                case .sign(_, let call): call.answer(nil)
                case .answer(_, let call): call.answer(nil)
                case .release: break
                }
            }
        }
        let reply = await withCheckedContinuation { continuation in
            _ = SystemThread.start {
                let client = LocalSocket.connect(path, within: .seconds(5)) ?? -1
                defer { close(client) }
                // The agent is its own upstream, which is found and left out.
                let isSent = AgentStream.send(Self.list, to: client)
                continuation.resume(returning: isSent ? AgentStream.receive(client) : nil)
            }
        }
        expect(reply, is: Self.none)
        keys.release(1)
        cancellation.cancel()
        await task.value
        for await _ in ended {}
        #expect(await keys.identities().isEmpty)
        socket.end()
        #expect(access(path, F_OK) != 0 && LocalSocket.connect(path, within: .seconds(1)) == nil)
    }

    @Test func replacesSocketsLeftBehind() throws {
        let folder = Folder()
        let first = try AgentSocket(at: folder.socket)
        #expect(AgentSocket(descriptor: dup(0)).path.isEmpty)
        first.end()
        try Data().write(to: URL(filePath: folder.socket))
        #expect(throws: AgentSocketError.exists(path: folder.socket)) { try AgentSocket(at: folder.socket) }
        #expect(throws: AgentSocketError.unsuitablePath) { try AgentSocket(at: "") }
        #expect(throws: AgentSocketError.unsuitablePath) { try AgentSocket(at: String(repeating: "x", count: 108)) }
        let missing = folder.path + "/none/agent"
        #expect(throws: AgentSocketError.failed(path: missing, number: ENOENT)) { try AgentSocket(at: missing) }
    }

    @Test func answersNothingAfterTheEnd() async throws {
        let service = try await PIVService.open(CardChannel(link: VirtualKey.new().link(), environment: .instant))
        try await service.authenticate(with: .defaultKey())
        _ = try await service.generateKey(.authentication, .p256)
        let slot = try #require(try await SSHSlotKey.all(of: service, serial: 1).first)
        let keys = AgentKeys { _ in }
        keys.end()
        let signature = SSHSignatureRequest(
            identity: slot.identity, data: [1], hash: .sha256, purpose: .other(bytes: 1), hostKey: nil, hops: [],
            needsConfirmation: false)
        let question = SSHExtensionRequest(name: "x", content: [], hostKey: nil, hops: [], needsConfirmation: false)
        await expect(keys.sign(signature), is: nil)
        await expect(keys.answer(question), is: nil)
        #expect(await keys.identities().isEmpty)
    }

    /// A signature with a key that the agent does not look at.
    private static func request() throws -> SSHSignatureRequest {
        let key = try #require(SSHPublicKey(PrivateKey(ed25519: Secret([UInt8](repeating: 3, count: 32))).publicKey))
        return SSHSignatureRequest(
            identity: SSHIdentity(publicKey: key, comment: "a"), data: [1], hash: .sha256, purpose: .other(bytes: 1),
            hostKey: nil, hops: [], needsConfirmation: false)
    }

    @Test("while a question is open, lists are answered with the last one", .timeLimit(.minutes(15)))
    func listsWhileAsking() async throws {
        let keys = AgentKeys { _ in }
        let identity = try Self.request().identity
        let first = Task { await keys.identities() }
        for await job in keys.jobs {
            guard case .identities = job else { continue }
            #expect(keys.isListAwaited)
            keys.list([identity])
            break
        }
        await expect(first.value, is: [identity])
        // Nobody takes the next job: the key waits for the user.
        await expect(keys.identities(), is: [identity])
        #expect(!keys.isListAwaited)
    }

    @Test("a client that hangs up is not waited for, and its question is withdrawn", .timeLimit(.minutes(15)))
    func leaving() async throws {
        let keys = AgentKeys { _ in }
        let request = try Self.request()
        let signing = Task { await keys.sign(request) }
        for await job in keys.jobs {
            guard case .sign(_, let call) = job else { continue }
            let question = Task {
                await call.caller.asking { () -> Bool in
                    do { try await Task.sleep(for: .seconds(3600)) } catch { return true }
                    return false
                }
            }
            try await Task.sleep(for: .milliseconds(50))
            signing.cancel()
            #expect(await question.value, "the question was cancelled")
            #expect(call.caller.hasLeft)
            #expect(await call.caller.asking { Task.isCancelled }, "a later one is cancelled at once")
            call.answer(nil)
            break
        }
        await expect(signing.value, is: nil)
        let late = Task {
            await keys.answer(
                SSHExtensionRequest(name: "x", content: [], hostKey: nil, hops: [], needsConfirmation: false))
        }
        try await Task.sleep(for: .milliseconds(20))
        keys.end()
        await expect(late.value, is: nil, "the end of the agent ends what waits")
    }

    @Test(
        "an agent notices a client that hangs up, and one process has a limited number of connections",
        .timeLimit(.minutes(15)))
    func hangUp() async throws {
        let folder = Folder()
        let path = folder.socket
        let socket = try AgentSocket(at: path)
        let keys = AgentKeys { _ in }
        let agent = SSHAgent(keys)
        let identity = try Self.request().identity
        let cancellation = Cancellation()
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        _ = SystemThread.start {
            socket.serve(agent, until: cancellation)
            end.finish()
        }
        // How many signatures were asked for, and how many of their clients have left.
        let count = Mutex((asked: 0, left: 0))
        let task = Task {
            for await job in keys.jobs {
                switch job {
                case .identities: keys.list([identity])
                case .sign(_, let call):
                    count.withLock { $0.asked += 1 }
                    await call.caller.asking { try? await Task.sleep(for: .seconds(3600)) }
                    if call.caller.hasLeft { count.withLock { $0.left += 1 } }
                    call.answer(nil)
                default: break
                }
            }
        }
        let blob = identity.blob
        let open = try await onThread {
            let message =
                [13, 0, 0, 0, UInt8(blob.count)] + blob + [0, 0, 0, 1, 7] + [0, 0, 0, 0]
            for (number, how) in [Int32(SHUT_RDWR), Int32(SHUT_WR)].enumerated() {
                let client = LocalSocket.connect(path, within: .seconds(5)) ?? -1
                _ = AgentStream.send(message, to: client)
                while count.withLock({ $0.asked }) <= number { usleep(1000) }
                shutdown(client, how)
                // The answer, or the end of the connection, is what the agent does once it has noticed.
                var byte: UInt8 = 0
                _ = recv(client, &byte, 1, 0)
                close(client)
            }
            let clients = (0..<100).compactMap { _ in LocalSocket.connect(path, within: .seconds(5)) }
            defer { clients.forEach { close($0) } }
            return clients.count { AgentStream.send(Self.list, to: $0) && AgentStream.receive($0) != nil }
        }
        #expect((60...64).contains(open))
        cancellation.cancel()
        keys.end()
        await task.value
        for await _ in ended {}
        expect(count.withLock { $0.left }, is: 2)
    }

    @Test func reportsRefusals() {
        let refused = Mutex<[SSHAgentRefusal]>([])
        let keys = AgentKeys(extensions: ["x"]) { refusal in refused.withLock { $0.append(refusal) } }
        keys.refused(.forwarded)
        #expect(refused.withLock { $0.count } == 1 && keys.extensions == ["x"])
    }
}

/// Requests that are passed on to OpenSSH's agent.
@Suite(.enabled(if: access("/usr/bin/ssh-agent", X_OK) == 0))
struct AgentUpstreamTests {
    /// OpenSSH's agent, on a socket of its own.
    private final class OtherAgent {
        let socket = "/tmp/ykagent.\(UInt32.random(in: 0 ... .max))"
        private let process = Process()

        init() async throws {
            process.executableURL = URL(filePath: "/usr/bin/ssh-agent")
            process.arguments = ["-D", "-a", socket]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            try await onThread { [socket, process] in
                while process.isRunning {
                    if let descriptor = LocalSocket.connect(socket, within: .seconds(1)) {
                        close(descriptor)
                        return
                    }
                    usleep(2000)
                }
                throw LinkError.timedOut("ssh-agent")
            }
        }

        /// Makes it answer no more.
        func stop() { kill(process.processIdentifier, SIGSTOP) }

        // It inherits the signals that the threads of a test block, so that SIGTERM would not end it.
        deinit {
            kill(process.processIdentifier, SIGKILL)
            unlink(socket)
        }
    }

    /// SSH_AGENTC_REQUEST_IDENTITIES, and SSH_AGENTC_REMOVE_ALL_IDENTITIES, which changes something.
    private static let (list, removeAll): ([UInt8], [UInt8]) = ([11], [19])

    /// Asks the other agent for a client, whose end of the connection `work` is given.
    private func asking(
        _ path: String, _ work: @escaping @Sendable (AgentUpstream, Int32) -> [[UInt8]?]
    ) async throws -> [[UInt8]?] {
        try await onThread {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            defer { ends.forEach { close($0) } }
            let upstream = AgentUpstream(path, for: ends[0])
            defer { upstream.end() }
            return work(upstream, ends[1])
        }
    }

    @Test func passesRequestsOn() async throws {
        let other = try await OtherAgent()
        // A binding that OpenSSH's agent refuses (SSH_AGENT_FAILURE); it goes out with the next request.
        let binding: [UInt8] = [27] + [0, 0, 0, 24] + Array("session-bind@openssh.com".utf8)
        let replies = try await asking(other.socket) { upstream, _ in
            [
                upstream.reply(to: binding), upstream.reply(to: Self.list), upstream.reply(to: Self.removeAll),
                upstream.reply(to: binding),
            ]
        }
        expect(replies[0], is: nil, "there is no connection yet")
        expect(replies[1], is: [12, 0, 0, 0, 0])
        expect(replies[2], is: [6])
        expect(replies[3]?.count, is: 1, "a refusal, whose number depends on the version")
    }

    @Test func waitsForNobody() async throws {
        let other = try await OtherAgent()
        other.stop()
        let replies = try await asking(other.socket) { upstream, client in
            shutdown(client, Int32(SHUT_RDWR))
            return [upstream.reply(to: Self.list)]
        }
        expect(replies, is: [nil], "the client has hung up")
        let nobody = try await asking(other.socket + ".none") { upstream, _ in [upstream.reply(to: Self.list)] }
        expect(nobody, is: [nil])
    }
}

/// Keys of a virtual key, as SSH uses them.
struct SSHKeyTests {
    private static func channel(_ key: VirtualKey) -> CardChannel {
        var environment = ServiceEnvironment(timeout: .seconds(20))
        environment.pause = { _, _ in }
        return CardChannel(link: key.link(), environment: environment)
    }

    private static func key() throws -> VirtualKey {
        try VirtualKey.new()
    }

    @Test func listsAndSignsWithCredentials() async throws {
        let pin = SharedSecret(Secret(utf8: "12345"))
        let service = try await FIDOService.open(
            card: Self.channel(Self.key()), interaction: FIDOInteraction(pin: { _ in pin }))
        try await service.setPIN(pin)
        for (application, user) in [
            ("ssh:work", "alice/x"), ("ssh:", ""), ("example.com", "bob"), ("ssh:", "work_616c6963652f78"),
        ] {
            var request = RegistrationRequest(
                clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: application),
                user: FIDOUser(id: Array(user.utf8) + [0], name: "openssh"))
            request.algorithms = [.edDSA]
            request.isResident = true
            _ = try await service.register(request)
        }
        let found = try await SSHCredential.all(of: service)
        let others = found.filter { $0.user != "work_616c6963652f78" }
        expect(
            Set(SSHCredential.fileNames(of: others)), is: ["id_ed25519_sk_rk_work_616c6963652f78", "id_ed25519_sk_rk"])
        // Two names that would be the same are told apart.
        let names = SSHCredential.fileNames(of: found)
        #expect(Set(names).count == 3 && names.contains("id_ed25519_sk_rk"))
        expect(names.filter { $0.hasPrefix("id_ed25519_sk_rk_work_616c6963652f78_") }.count, is: 2)
        let work = try #require(found.first { $0.user == "alice/x" })
        #expect(work.file.comment == "ssh:work" && work.file.flags == [.touchRequired, .resident])
        let data = Array("to sign".utf8)
        let signature = try await service.sign(data, with: work.file)
        #expect(signature.isValid(for: data, by: work.file.publicKey))
        let other = try await FIDOService.open(
            card: Self.channel(Self.key()), interaction: FIDOInteraction(pin: { _ in pin }))
        await #expect(throws: FIDOError.noCredentials) { _ = try await other.sign(data, with: work.file) }
    }

    @Test func listsSlots() async throws {
        let service = try await PIVService.open(Self.channel(Self.key()))
        try await service.authenticate(with: .defaultKey())
        for slot in [PIVSlot.authentication, .keyManagement] {
            _ = try await service.generateKey(slot, .p256)
        }
        let keys = try await SSHSlotKey.all(of: service, serial: 1)
        #expect(keys.map(\.slot) == [.authentication] && keys.first?.comment == "PIV 9a 1")
        #expect(keys.first?.identity.comment == "PIV 9a 1" && keys.first?.key.type == "ecdsa-sha2-nistp256")
        #expect(SSHSlotKey.all([], serial: nil).isEmpty)
    }
}
