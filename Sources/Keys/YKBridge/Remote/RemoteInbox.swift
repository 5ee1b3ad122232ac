// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKVirtualKeyHost
import YKWire

/// The frames that have come and are not yet processed. A sender that floods has to wait.
final class RemoteInbox: Sendable {
    private struct State {
        var reader: RemoteFrameReader
        var frames: [RemoteFrame] = []
        /// Why no more frames come.
        var failure: RemoteError?
        var isEnded = false
    }

    /// How many frames are kept.
    private static let limit = 64

    private let state: Mutex<State>
    private let hasStopped = Semaphore()
    private let wake: @Sendable () -> Void

    /// Creates an inbox; `wake` is called when frames have come, and at the end.
    init(_ reader: RemoteFrameReader, wake: @escaping @Sendable () -> Void) {
        state = Mutex(State(reader: reader))
        self.wake = wake
    }

    /// Starts to read from a channel on a thread of its own; `false` if there is none.
    func fill(from channel: RemoteChannel) -> Bool {
        SystemThread.start { [self] in
            while !isFinished {
                guard isFull else {
                    take(channel.receive())
                    continue
                }
                Pause.step(.after(.milliseconds(20)), atMost: 20)
            }
            hasStopped.post()
        }
    }

    private var isFinished: Bool { state.withLock { $0.isEnded || $0.failure != nil } }
    private var isFull: Bool { state.withLock { $0.frames.count >= Self.limit } }

    /// Adds bytes of the stream: empty if none have come, `nil` at its end.
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
    /// - Throws: Why no more frames come, once all that have come are taken.
    func next() throws(RemoteError) -> RemoteFrame? {
        let (frame, failure): (RemoteFrame?, RemoteError?) = state.withLock { state in
            guard state.frames.isEmpty else { return (state.frames.removeFirst(), nil) }
            return (nil, state.failure)
        }
        if let failure { throw failure }
        return frame
    }

    /// Stops the reading that ``fill(from:)`` started, and waits for the end of its thread, a tenth of a second at most:
    /// whoever closes the descriptors afterwards may get their numbers for others.
    func end() {
        state.withLock { $0.isEnded = true }
        hasStopped.wait()
    }
}

extension RemoteError {
    /// What the other end is told.
    var ending: RemoteEnding {
        switch self {
        case .incompatible: RemoteEnding(.incompatible)
        case .device(let error): RemoteEnding(.noDevice, error.description)
        case .noThread: RemoteEnding(.noDevice, "no thread")
        case .violation(let error): RemoteEnding(.violation, error.description)
        case .noGreeting, .noFIDO2: RemoteEnding(.violation)
        case .ended, .lost: RemoteEnding(.done)
        }
    }
}

extension RemoteEnding {
    /// `nil` if the other end is just done.
    ///
    /// - Throws: `ended` otherwise.
    func isDone<Value>() throws(RemoteError) -> Value? {
        guard reason == .done else { throw .ended(self) }
        return nil
    }
}

extension RemoteHello {
    /// - Throws: `incompatible` if the other end speaks no version that this one speaks.
    func check(_ other: RemoteHello) throws(RemoteError) {
        guard common(with: other) == nil else { return }
        throw .incompatible(own: versions, other: other.versions, program: other.program)
    }
}

extension WireError {
    /// A frame that may not come now.
    static var unexpected: WireError { WireError(.malformed, at: 0, "a frame out of turn") }
}
