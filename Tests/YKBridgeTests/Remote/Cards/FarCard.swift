// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKCrypto
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKeyHost
import YKWire

@testable import YKBridge

/// vpcd at the far end, and a program there that uses the card in its reader.
final class FarCard: CardLink, Sendable {
    let identity: CardIdentity
    private let socket: LocalSocket

    /// Waits for a card.
    init(_ listener: LocalSocket) throws(LinkError) {
        guard let socket = listener.accept() else { throw .removed }
        self.socket = socket
        socket.send([0, 1, 4])
        identity = CardIdentity(reader: "Virtual PCD", atr: try Self.receive(socket))
    }

    private static func receive(_ socket: LocalSocket) throws(LinkError) -> [UInt8] {
        guard let head = socket.receive(exactly: 2),
            let message = socket.receive(exactly: Int(head[0]) << 8 | Int(head[1]))
        else { throw .removed }
        return message
    }

    private func write(_ message: [UInt8]) {
        socket.send([UInt8(message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message)
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        write(command)
        return try Self.receive(socket)
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { write([2]) }
    func close() { write([0]) }

    /// Sends bytes that are no message.
    func send(raw bytes: [UInt8]) { socket.send(bytes) }
    /// The reader goes away.
    func leave() { socket.shutDown() }
    /// Whether the card was removed.
    var isRemoved: Bool { socket.receive(exactly: 1) == nil }
}

/// Both ends with applications of a card.
final class RemoteCardBench: Sendable {
    let user: NearUser
    private let near: RemoteChannel
    private let far: RemoteChannel
    private let wire = Sockets()
    private let stop = Cancellation()
    private let listener: LocalSocket
    private let log = Mutex((events: [RemoteEvent](), pins: [String](), tries: [Int?](), refused: 0))
    let farEnd = Mutex<Result<Void, RemoteError>?>(nil)
    private let farEnded = Semaphore()

    init(_ user: NearUser = NearUser(true), pins: [String] = []) throws {
        self.user = user
        listener = try LocalSocket(listeningOn: 0x7F00_0001)
        near = RemoteChannel(input: wire.one, output: wire.one)
        far = RemoteChannel(input: wire.other, output: wire.other)
        log.withLock { $0.pins = pins }
    }

    var events: [RemoteEvent] { log.withLock { $0.events } }
    var tries: [Int?] { log.withLock { $0.tries } }
    var refusedPINs: Int { log.withLock { $0.refused } }

    /// Runs both ends around `body`, which gets the card at the far end, then ends them.
    ///
    /// - Parameter open: Opens the card at the near end.
    @discardableResult func run(
        _ applications: [RemoteApplication], _ open: @escaping @Sendable () throws -> CardService,
        questionTime: Duration = .seconds(60), _ body: (FarCard) async throws -> Void
    ) async throws -> Result<Void, RemoteError> {
        let near = Task {
            // The far end waits a minute for the greeting: not while this task waits for a thread behind long tests.
            startFar()
            defer { listener.shutDown() }
            return await nearEnd(applications, open, questionTime)
        }
        let card = try await onThread { [listener] in try FarCard(listener) }
        do { try await body(card) } catch {
            stop.cancel()
            _ = await near.value
            throw error
        }
        stop.cancel()
        let result = await near.value
        try await onThread { [farEnded] in _ = farEnded.wait(milliseconds: 60_000) }
        return result
    }

    /// Waits for the card again, after the reader went away.
    func again() async throws -> FarCard { try await onThread { [listener] in try FarCard(listener) } }

    func cut() {
        shutdown(wire.one, Int32(SHUT_RDWR))
        shutdown(wire.other, Int32(SHUT_RDWR))
    }

    private func startFar() {
        let (far, port) = (far, listener.port)
        _ = SystemThread.start { [self] in
            var end = FarEnd(
                far, RemoteHello(program: "1"), owner: nil, cancellation: Cancellation(), report: { _ in }, open: nil)
            end.reader = VPCDAddress(port: port)
            var result = Result<Void, RemoteError>.success(())
            do throws(RemoteError) { try end.run() } catch { result = .failure(error) }
            farEnd.withLock { $0 = result }
            farEnded.post()
        }
    }

    private func nearEnd(
        _ applications: [RemoteApplication], _ open: @escaping @Sendable () throws -> CardService,
        _ questionTime: Duration
    ) async -> Result<Void, RemoteError> {
        var policy = RemotePolicy()
        policy.questionTime = questionTime
        user.patience = questionTime
        let end = NearEnd(
            host: "lab", near, RemoteHello(program: "1"), policy, user, stop,
            { event in self.log.withLock { $0.events.append(event) } })
        let pins = RemotePINs { _, tries in
            self.log.withLock { log in
                log.tries.append(tries)
                return log.pins.isEmpty ? nil : secret(log.pins.removeFirst())
            }
        } outcome: { _, refusal in
            if refusal != nil { self.log.withLock { $0.refused += 1 } }
        }
        do throws(RemoteError) {
            guard let service = try? open() else { throw .noThread }
            try await end.run(card: service, applications, pins: pins) { try? open() }
            return .success(())
        } catch { return .failure(error) }
    }
}
