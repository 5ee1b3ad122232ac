// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKVirtualKeyHost

/// The stream between the ends. Any thread can send frames; they are never interleaved.
package final class RemoteChannel: Sendable {
    /// How long the other end may take to accept a frame.
    private static let patience = Duration.seconds(10)

    /// How long the other end may send nothing; `nil` without a limit and without signs of life, on one machine.
    let silence: Duration?
    private let stream: DescriptorStream
    private let state = Mutex((isOpen: true, frames: 0))

    /// Makes both descriptors non-blocking; they are not closed.
    package init(input: Int32, output: Int32, silence: Duration? = .seconds(20)) {
        self.silence = silence
        stream = DescriptorStream(input: input, output: output)
    }

    /// The number of frames sent, without the signs of life.
    var framesSent: Int { state.withLock { $0.frames } }

    /// Sends the greeting.
    func greet() { _ = send(RemoteFrame.greeting, frames: 0) }

    /// Sends a frame; `false` if the other end is gone, or accepts nothing for ten seconds.
    @discardableResult func send(_ frame: RemoteFrame) -> Bool {
        send(frame.encoded, frames: frame == .alive ? 0 : 1)
    }

    private func send(_ bytes: [UInt8], frames: Int) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.frames += frames
            state.isOpen = stream.write(bytes, within: Self.patience)
            return state.isOpen
        }
    }

    /// Waits for bytes and returns them: empty if the time was over or one of the cancellations happened before, `nil` if
    /// the other end is gone.
    func receive(until cancellations: [Cancellation], atMost limit: Duration? = nil) -> [UInt8]? {
        stream.receive(until: cancellations, atMost: limit)
    }
}

/// The signs of life that one end of a connection sends, and those that it expects.
struct RemoteHeartbeat {
    typealias Instant = ContinuousClock.Instant

    /// How often each end sends a sign of life.
    private static let pulse = Duration.seconds(5)

    private let channel: RemoteChannel
    private var heard: Instant
    private var shown: Instant

    init(_ channel: RemoteChannel, at now: Instant = .now) { (self.channel, heard, shown) = (channel, now, now) }

    /// Notes a frame of the other end.
    mutating func hear(at now: Instant = .now) { heard = now }

    /// The time until a sign of life is due, from either end; `nil` if none is ever.
    func pause(at now: Instant = .now) -> Duration? {
        guard let silence = channel.silence else { return nil }
        return max(.zero, min(now.duration(to: shown) + Self.pulse, now.duration(to: heard) + silence))
    }

    /// Sends a sign of life when one is due; returns whether the other end accepts frames.
    ///
    /// - Throws: `lost` if the other end was silent for too long.
    mutating func keep(at now: Instant = .now) throws(RemoteError) -> Bool {
        guard let silence = channel.silence else { return true }
        guard heard.duration(to: now) <= silence else { throw .lost }
        guard shown.duration(to: now) >= Self.pulse else { return true }
        shown = now
        return channel.send(.alive)
    }
}

/// How fast the requests of a far end are processed: so many at once, then one after each pause.
struct Pace {
    private let burst: Int
    private let pause: Duration
    /// How many may come without a pause, and when one was last counted.
    private var left: Int
    private var counted = ContinuousClock.now

    init(burst: Int, pause: Duration) { (self.burst, self.pause, left) = (burst, pause, burst) }

    /// Counts a request; returns how long it has to wait.
    mutating func count() -> Duration? {
        let steps = Int(counted.duration(to: .now) / pause)
        if steps > 0 { (left, counted) = (min(burst, left + steps), .now) }
        left -= 1
        return left < 0 ? pause : nil
    }
}
