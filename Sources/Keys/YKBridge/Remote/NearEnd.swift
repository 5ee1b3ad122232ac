// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKFIDO
public import YKInteraction
public import YKTransport
import YKWire

/// The near end of a remote bridge: serves the requests of a far end with the key here. A ``RemotePolicy`` decides what
/// a far end may request, and the user is asked before the key is used.
public struct NearEnd: Sendable {
    let host: String
    let channel: RemoteChannel
    private let hello: RemoteHello
    let policy: RemotePolicy
    let person: any BridgePerson
    private let cancellation: Cancellation
    let report: @Sendable (RemoteEvent) -> Void
    /// How long the key is held for a ceremony of several messages.
    var holdTime = Duration.seconds(10)
    /// The number of requests allowed at once, and the pause between later ones.
    var (burst, pace) = (20, Duration.milliseconds(200))

    /// Creates a near end; nothing happens before ``run(_:reopen:)``.
    ///
    /// - Parameters:
    ///   - host: The name of the far end, for the user: as the user typed it, not as the far end names itself.
    ///   - input: The descriptor for reading the far end's frames; it is made non-blocking.
    ///   - output: The descriptor for writing frames to the far end; it is made non-blocking.
    ///   - program: The version of this program, for the far end.
    ///   - policy: What the far end may do.
    ///   - person: Who is asked before the key is used.
    ///   - cancellation: Ends ``run(_:reopen:)``.
    ///   - report: Called for each event, on any thread.
    public init(
        host: String, input: Int32, output: Int32, program: String, policy: RemotePolicy, person: any BridgePerson,
        cancellation: Cancellation, report: @escaping @Sendable (RemoteEvent) -> Void = { _ in }
    ) {
        self.init(
            host: host, RemoteChannel(input: input, output: output), RemoteHello(program: program), policy, person,
            cancellation, report)
    }

    package init(
        host: String, _ channel: RemoteChannel, _ hello: RemoteHello, _ policy: RemotePolicy,
        _ person: any BridgePerson, _ cancellation: Cancellation,
        _ report: @escaping @Sendable (RemoteEvent) -> Void
    ) {
        (self.host, self.channel, self.hello, self.policy) = (host, channel, hello, policy)
        (self.person, self.cancellation, self.report) = (person, cancellation, report)
    }

    /// Serves until the far end ends the connection or it is cut, or until it is cancelled. Then the pending operation
    /// is cancelled, and the connection to the key closed.
    ///
    /// - Parameters:
    ///   - service: The key, which must have FIDO2.
    ///   - reopen: Opens the key again after it was removed; `nil` if it is not attached.
    /// - Throws: `RemoteError` unless the far end is done, or it was cancelled.
    public func run(
        _ service: FIDOService, reopen: () async -> FIDOService? = { nil }
    ) async throws(RemoteError) {
        let info: [UInt8]
        do throws(FIDOError) {
            guard await service.hasCTAP2 else { throw .unsupported("FIDO2") }
            info = PresentedInfo.answer(try await service.info())
        } catch { throw .noFIDO2 }
        await service.rest()
        let (events, stream) = AsyncStream.makeStream(of: NearReader.Event.self)
        let reader = NearReader(channel, hello, info: info, cancellation, stream)
        guard reader.start() else { throw .noThread }
        defer { reader.end() }
        let authenticator = NearAuthenticator(self)
        var service = service
        var failure: RemoteError?
        for await event in events {
            switch event {
            case .greeted(let program): report(.connected(program: program))
            case .request(let request):
                if case .closed = service.state, let other = await reopen() { service = other }
                let answer = await self.answer(request, authenticator, service)
                reader.answered(request, answer)
            case .ended(let error): failure = error
            }
        }
        await service.close()
        if let failure { throw failure }
    }

    /// Runs a request in a task that is cancelled by the far end, or when the connection ends.
    private func answer(
        _ request: NearReader.Request, _ authenticator: NearAuthenticator, _ service: FIDOService
    ) async -> [UInt8] {
        let work = Task { await authenticator.answer(request.message, request.number, service) }
        request.cancellation.onCancel { work.cancel() }
        return await work.value
    }
}

/// Reads the far end's frames, and rejects unexpected ones. At most one request is in progress.
final class NearReader: Sendable {
    /// What was received.
    enum Event: Sendable {
        /// The far end greeted.
        case greeted(program: String)
        /// A message for the key.
        case request(Request)
        /// The connection has ended.
        case ended(RemoteError?)
    }

    /// A message for the key.
    struct Request: Sendable {
        let number: UInt32
        let message: [UInt8]
        let cancellation = RequestCancellation()
    }

    private let channel: RemoteChannel
    private let hello: RemoteHello
    private let info: [UInt8]
    private let cancellation: Cancellation
    private let stream: AsyncStream<Event>.Continuation
    private let inbox: RemoteInbox
    private let current = Mutex<Request?>(nil)
    private let isOver = Cancellation()

    init(
        _ channel: RemoteChannel, _ hello: RemoteHello, info: [UInt8], _ cancellation: Cancellation,
        _ stream: AsyncStream<Event>.Continuation
    ) {
        (self.channel, self.hello, self.info) = (channel, hello, info)
        (self.cancellation, self.stream) = (cancellation, stream)
        inbox = RemoteInbox(RemoteFrameReader(skipsNoise: true)) {}
    }

    /// Starts to read on a separate thread; `false` if none can be started.
    func start() -> Bool { SystemThread.start { [self] in read() } }

    /// Stops reading.
    func end() { isOver.cancel() }

    /// Sends the answer to a request, and allows the next one.
    func answered(_ request: Request, _ answer: [UInt8]) {
        current.withLock { $0 = nil }
        channel.send(.reply(request.number, answer))
    }

    private func read() {
        var failure: RemoteError?
        do throws(RemoteError) { try follow() } catch { failure = error }
        current.withLock { $0 }?.cancellation.cancel()
        channel.send(.end(failure?.ending ?? RemoteEnding(.done)))
        stream.yield(.ended(failure))
        stream.finish()
    }

    private func follow() throws(RemoteError) {
        var isGreeted = false
        var (heard, shown) = (ContinuousClock.now, ContinuousClock.now)
        while !cancellation.isCancelled, !isOver.isCancelled {
            inbox.take(channel.receive())
            while let frame = try inbox.next() {
                heard = .now
                if case .end(let ending) = frame {
                    let _: Void? = try ending.isDone()
                    return
                }
                if isGreeted { try take(frame) } else { isGreeted = try greet(frame) }
            }
            // Before the greeting, ssh may be asking for a password.
            guard isGreeted else { continue }
            if heard.duration(to: .now) > FarAuthenticator.silence { throw .lost }
            if shown.duration(to: .now) >= FarAuthenticator.pulse {
                shown = .now
                channel.send(.alive)
            }
        }
    }

    private func greet(_ frame: RemoteFrame) throws(RemoteError) -> Bool {
        guard case .hello(let other) = frame else { throw .violation(.unexpected) }
        channel.greet()
        channel.send(.hello(hello))
        try hello.check(other)
        channel.send(.key(info))
        stream.yield(.greeted(program: other.program))
        return true
    }

    private func take(_ frame: RemoteFrame) throws(RemoteError) {
        switch frame {
        case .request(let number, let message):
            let request = Request(number: number, message: message)
            let isTurn = current.withLock { current in
                guard current == nil else { return false }
                current = request
                return true
            }
            guard isTurn else { throw .violation(.unexpected) }
            stream.yield(.request(request))
        case .cancel(let number):
            // The reply may have been on its way.
            if let request = current.withLock({ $0 }), request.number == number { request.cancellation.cancel() }
        case .alive: break
        default: throw .violation(.unexpected)
        }
    }
}

/// Cancels a request, even one that has not been started.
final class RequestCancellation: Sendable {
    private let state = Mutex<(isCancelled: Bool, action: (@Sendable () -> Void)?)>((false, nil))

    /// Cancels.
    func cancel() {
        let action = state.withLock { state in
            state.isCancelled = true
            return state.action
        }
        action?()
    }

    /// Sets the action to run on cancellation, and runs it immediately if the request is already cancelled.
    func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            state.action = action
            return state.isCancelled
        }
        if isCancelled { action() }
    }
}
