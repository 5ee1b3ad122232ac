// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A source of random bytes.
public protocol RandomSource: Sendable {
    /// Draws bytes; `secret` marks bytes that must not be written to a capture.
    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8]
}

/// A source of the time of day.
public protocol WallClock: Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    var now: Int64 { get }
}

/// The environment of a service, injected so that replays are exact and tests are instant.
public struct ServiceEnvironment: Sendable {
    /// The source of random bytes.
    public var random: any RandomSource
    /// The source of the time of day.
    public var clock: any WallClock
    /// The timeout for one operation on the key.
    public var timeout: Duration
    /// Cancels pending operations.
    public var cancellation: Cancellation
    /// Waits between two polls of a key, at most until its deadline; replays and tests do not wait at all.
    package var pause: @Sendable (Duration, Deadline) -> Void = Pause.system
    /// Whether a recording with overwritten secrets is replayed: overwritten proofs are then not verified, and no
    /// result is computed from overwritten bytes.
    package var isRedactedReplay = false

    /// Creates an environment; by default the system's, with a timeout of 30 seconds per operation.
    public init(
        random: any RandomSource = SystemRandom(), clock: any WallClock = SystemClock(),
        timeout: Duration = .seconds(30), cancellation: Cancellation = Cancellation()
    ) {
        self.random = random
        self.clock = clock
        self.timeout = timeout
        self.cancellation = cancellation
    }

    /// Whether bytes from the key are a secret that was overwritten with zeros in the replayed recording.
    package func isOverwritten(_ bytes: [UInt8]) -> Bool {
        isRedactedReplay && !bytes.isEmpty && bytes.allSatisfy { $0 == 0 }
    }

    /// Throws `replay` when bytes from the key were overwritten in the replayed recording.
    package func requireRecorded(_ bytes: [UInt8], _ name: String) throws(LinkError) {
        if isOverwritten(bytes) { throw .replay(.overwritten(name)) }
    }

    /// Returns a deadline for an operation that starts now.
    public func deadline() -> Deadline { .after(timeout, cancellation: cancellation) }
}

/// A clock that always shows the same time.
public struct FixedClock: WallClock {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let now: Int64
    /// Creates a clock that always shows `now`.
    public init(_ now: Int64) { self.now = now }
}

/// The operating system's time of day.
public struct SystemClock: WallClock {
    /// Creates a clock.
    public init() {}

    /// Seconds since 1970-01-01 00:00 UTC.
    public var now: Int64 { Int64(time(nil)) }
}

/// The operating system's random bytes.
public struct SystemRandom: RandomSource {
    /// Maximum number of bytes per system call (getentropy(3)).
    private static let portion = 256

    /// Creates a source.
    public init() {}

    /// Draws bytes from the system's cryptographic generator, as many at once as it provides; on a system without
    /// getentropy(3) one by one with Swift's generator, which terminates the program when no randomness is available.
    public func draw(_ count: Int, secret: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(0, count)) { room, filled in
            while filled < max(0, count) {
                let part = room[filled..<min(filled + Self.portion, max(0, count))]
                if getentropy(room.baseAddress?.advanced(by: filled), part.count) == 0 {
                    filled += part.count
                } else {
                    room[filled] = UInt8.random(in: .min ... .max)
                    filled += 1
                }
            }
        }
    }
}
