// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// What a virtual key needs from outside: randomness, and a finger.
public struct VirtualWorld: Sendable {
    /// Whether the key is touched.
    public enum Touch: Sendable, Hashable {
        /// Somebody touches it.
        case touched
        /// Nobody did and the key's time is over: the command ends with 6985.
        case notTouched
        /// Nobody did yet: the command does not end until that changes.
        case pending
    }

    /// Whose finger is on the sensor.
    public enum Verification: Sendable, Hashable {
        /// One that the key knows.
        case verified
        /// Another one.
        case wrong
        /// None, and the key's time is over.
        case notTouched
        /// None yet.
        case pending
    }

    /// Random bytes: challenges and device identifiers.
    public var random: any RandomSource
    /// Asked whenever an account wants a touch, with its name; must not block.
    public var touch: @Sendable (_ account: [UInt8]) -> Touch
    /// Asked whenever the user is verified by a finger; must not block.
    public var verify: @Sendable () -> Verification = { .verified }
    /// How a finger lay that is being enrolled, after so many good samples: 0 is good, else a code of CTAP 2.2 §6.7.
    public var sample: @Sendable (_ good: Int) -> UInt8 = { _ in 0 }

    /// Asked whenever the key waits for nothing: the slot, 1 for a short touch and 2 for a long one, that is to type;
    /// must not block.
    public var press: @Sendable () -> Int? = { nil }

    /// Makes a world; without arguments it has the system's randomness and somebody touches the key at once.
    public init(
        random: any RandomSource = SystemRandom(),
        touch: @escaping @Sendable (_ account: [UInt8]) -> Touch = { _ in .touched }
    ) {
        self.random = random
        self.touch = touch
    }

    func draw(_ count: Int) throws(Refusal) -> [UInt8] {
        do { return try random.draw(count, secret: false) } catch { throw .status(.memoryFailure) }
    }
}
