// SPDX-License-Identifier: Apache-2.0

/// Where random bytes come from.
public protocol RandomSource: Sendable {
    /// Draws bytes; `secret` marks those that must not be written into a capture.
    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8]
}

/// Where the time of day comes from.
public protocol WallClock: Sendable {
    /// Seconds since 1970-01-01 00:00 UTC.
    var now: Int64 { get }
}

/// The world a service works in, handed in from outside so that a replay is exact and a test is instant.
public struct Environment: Sendable {
    /// Random bytes.
    public var random: any RandomSource
    /// Time of day.
    public var clock: any WallClock
    /// How long one operation on the key may take.
    public var timeout: Duration
    /// Stops whatever waits.
    public var cancellation: Cancellation
    /// Waits between two questions to a key, no longer than its deadline; a replay and a test do not wait at all.
    package var pause: @Sendable (Duration, Deadline) -> Void = Pause.system
    /// Whether a recording is played back whose secrets were overwritten: then a proof that was overwritten is not
    /// checked, and no result is made of overwritten bytes.
    package var isRedactedReplay = false

    /// Makes an environment; without arguments it is the real world with 30 seconds for an operation.
    public init(
        random: any RandomSource = SystemRandom(), clock: any WallClock = SystemClock(),
        timeout: Duration = .seconds(30), cancellation: Cancellation = Cancellation()
    ) {
        self.random = random
        self.clock = clock
        self.timeout = timeout
        self.cancellation = cancellation
    }

    /// Whether bytes from the key are a secret that was overwritten with zeros in the recording that is played back.
    package func isOverwritten(_ bytes: [UInt8]) -> Bool {
        isRedactedReplay && !bytes.isEmpty && bytes.allSatisfy { $0 == 0 }
    }

    /// Throws `replay` when bytes from the key were overwritten in the recording that is played back.
    package func requireRecorded(_ bytes: [UInt8], _ name: String) throws(LinkError) {
        if isOverwritten(bytes) { throw .replay(.overwritten(name)) }
    }

    /// A deadline for an operation that starts now.
    public func deadline() -> Deadline { .after(timeout, cancellation: cancellation) }
}

/// A clock that stands still.
public struct FixedClock: WallClock {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let now: Int64
    /// Makes a clock that shows `now` for ever.
    public init(_ now: Int64) { self.now = now }
}
