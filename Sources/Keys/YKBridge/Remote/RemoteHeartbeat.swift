// SPDX-License-Identifier: Apache-2.0

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
