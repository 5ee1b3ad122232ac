// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKCrypto
import YKFIDO
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
        #expect(socket.path == path)
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
                case .identities(let continuation): continuation.resume(returning: [])
                case .sign(_, let continuation): continuation.resume(returning: nil)
                case .answer(_, let continuation): continuation.resume(returning: nil)
                case .release: break
                }
            }
        }
        let reply = await withCheckedContinuation { continuation in
            _ = SystemThread.start {
                let client = AgentSocket.connect(path, within: .seconds(5)) ?? -1
                defer { close(client) }
                // The agent is its own upstream, which is found and left out.
                let isSent = AgentStream.send(Self.list, to: client)
                continuation.resume(returning: isSent ? AgentStream.receive(client) : nil)
            }
        }
        #expect(reply == Self.none)
        keys.release(1)
        cancellation.cancel()
        await task.value
        for await _ in ended {}
        #expect(await keys.identities().isEmpty)
        socket.end()
        #expect(access(path, F_OK) != 0 && AgentSocket.connect(path, within: .seconds(1)) == nil)
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
        #expect(await keys.sign(signature) == nil)
        #expect(await keys.answer(question) == nil)
        #expect(await keys.identities().isEmpty)
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
                    if let descriptor = AgentSocket.connect(socket, within: .seconds(1)) {
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
        #expect(replies[0] == nil, "there is no connection yet")
        #expect(replies[1] == [12, 0, 0, 0, 0])
        #expect(replies[2] == [6])
        #expect(replies[3]?.count == 1, "a refusal, whose number depends on the version")
    }

    @Test func waitsForNobody() async throws {
        let other = try await OtherAgent()
        other.stop()
        let replies = try await asking(other.socket) { upstream, client in
            shutdown(client, Int32(SHUT_RDWR))
            return [upstream.reply(to: Self.list)]
        }
        #expect(replies == [nil], "the client has hung up")
        let nobody = try await asking(other.socket + ".none") { upstream, _ in [upstream.reply(to: Self.list)] }
        #expect(nobody == [nil])
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
        for (application, user) in [("ssh:work", "alice/x"), ("ssh:", ""), ("example.com", "bob")] {
            var request = RegistrationRequest(
                clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: application),
                user: FIDOUser(id: Array(user.utf8) + [0], name: "openssh"))
            request.algorithms = [.edDSA]
            request.isResident = true
            _ = try await service.register(request)
        }
        let found = try await SSHCredential.all(of: service)
        #expect(Set(found.map(\.fileName)) == ["id_ed25519_sk_rk_work_alice_x", "id_ed25519_sk_rk"])
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
