// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

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
    private let offer: RemoteFrame
    private let cancellations: [Cancellation]
    private let stream: AsyncStream<Event>.Continuation
    private let inbox: RemoteInbox
    private let current = Mutex<Request?>(nil)
    private let isOver = Cancellation()

    init(
        _ channel: RemoteChannel, _ hello: RemoteHello, _ offer: RemoteFrame, _ cancellations: [Cancellation],
        _ stream: AsyncStream<Event>.Continuation
    ) {
        (self.channel, self.hello, self.offer) = (channel, hello, offer)
        (self.cancellations, self.stream) = (cancellations + [isOver], stream)
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
        var heartbeat = RemoteHeartbeat(channel)
        while !cancellations.contains(where: \.isCancelled) {
            // Before the greeting, ssh may be asking for a password.
            inbox.take(
                channel.receive(until: cancellations, atMost: isGreeted ? heartbeat.pause() : nil))
            while let frame = try inbox.next() {
                heartbeat.hear()
                if case .end(let ending) = frame {
                    let _: Void? = try ending.isDone()
                    return
                }
                if isGreeted { try take(frame) } else { isGreeted = try greet(frame) }
            }
            guard isGreeted else { continue }
            _ = try heartbeat.keep()  // What the other end sent before it went is still read.
        }
    }

    private func greet(_ frame: RemoteFrame) throws(RemoteError) -> Bool {
        guard case .hello(let other) = frame else { throw .violation(.unexpected) }
        channel.greet()
        channel.send(.hello(hello))
        try hello.check(other)
        if case .card = offer, hello.common(with: other) ?? 0 < RemoteHello.withCards {
            throw .noCards(program: other.program)
        }
        channel.send(offer)
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
