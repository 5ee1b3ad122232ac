// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKVirtualKeyHost
import YKWire

/// The frames received but not yet processed. If there are too many, the sender must wait.
final class RemoteInbox: Sendable {
    private struct State {
        var reader: RemoteFrameReader
        var frames: [RemoteFrame] = []
        /// Why there are no more frames.
        var failure: RemoteError?
    }

    /// The maximum number of frames kept.
    private static let limit = 64

    private let state: Mutex<State>
    private let ending = Cancellation()
    private let hasStopped = Semaphore()
    private let wake: @Sendable () -> Void

    /// Creates an inbox; `wake` is called when frames arrive, and at the end.
    init(_ reader: RemoteFrameReader, wake: @escaping @Sendable () -> Void) {
        state = Mutex(State(reader: reader))
        self.wake = wake
    }

    /// Starts to read from a channel on a separate thread; `false` if none can be started.
    func fill(from channel: RemoteChannel) -> Bool {
        SystemThread.start { [self] in
            while !isFinished {
                guard isFull else {
                    take(channel.receive(until: [ending]))
                    continue
                }
                Pause.step(.after(.milliseconds(20)), atMost: 20)
            }
            hasStopped.post()
        }
    }

    private var isFinished: Bool { ending.isCancelled || state.withLock { $0.failure != nil } }
    private var isFull: Bool { state.withLock { $0.frames.count >= Self.limit } }

    /// Adds bytes of the stream: empty if there are none yet, `nil` at its end.
    func take(_ bytes: [UInt8]?) {
        if bytes?.isEmpty == true { return }
        state.withLock { state in
            guard let bytes else {
                let isGreeted = state.reader.isGreeted
                return state.failure = isGreeted ? .lost : .noGreeting(Self.text(state.reader.noise))
            }
            state.reader.add(bytes)
            do throws(WireError) {
                while let frame = try state.reader.next() { state.frames.append(frame) }
            } catch {
                state.failure = state.reader.isGreeted ? .violation(error) : .noGreeting(Self.text(state.reader.noise))
            }
        }
        wake()
    }

    private static func text(_ noise: [UInt8]) -> String { String(decoding: noise.prefix(200), as: UTF8.self) }

    /// Removes and returns the next frame; `nil` if there is none now.
    ///
    /// - Throws: The reason why there are no more frames, once all received ones have been returned.
    func next() throws(RemoteError) -> RemoteFrame? {
        let (frame, failure): (RemoteFrame?, RemoteError?) = state.withLock { state in
            guard state.frames.isEmpty else { return (state.frames.removeFirst(), nil) }
            return (nil, state.failure)
        }
        if let failure { throw failure }
        return frame
    }

    /// Stops the thread that ``fill(from:)`` started, and waits for its end: once the descriptors are closed, their
    /// numbers may be reused.
    func end() {
        ending.cancel()
        hasStopped.wait()
    }
}

extension RemoteError {
    /// The ending to send to the other end.
    var ending: RemoteEnding {
        switch self {
        case .incompatible, .noCards: RemoteEnding(.incompatible)
        case .reader(let error): RemoteEnding(.noReader, error.description)
        case .device(let error): RemoteEnding(.noDevice, error.description)
        case .noThread: RemoteEnding(.noDevice, "no thread")
        case .violation(let error): RemoteEnding(.violation, error.description)
        case .noGreeting, .noFIDO2: RemoteEnding(.violation)
        case .ended, .lost: RemoteEnding(.done)
        }
    }
}

extension RemoteEnding {
    /// Returns `nil` if the other end has finished normally.
    ///
    /// - Throws: `ended` otherwise.
    func isDone<Value>() throws(RemoteError) -> Value? {
        guard reason == .done else { throw .ended(self) }
        return nil
    }
}

extension RemoteHello {
    /// - Throws: `incompatible` if the ends have no version in common.
    func check(_ other: RemoteHello) throws(RemoteError) {
        guard common(with: other) == nil else { return }
        throw .incompatible(own: versions, other: other.versions, program: other.program)
    }
}

extension WireError {
    /// An unexpected frame.
    static var unexpected: WireError { WireError(.malformed, at: 0, "an unexpected frame") }
}
