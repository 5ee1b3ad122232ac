// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A message between the two ends of a remote bridge. Each end first sends ``greeting``, then frames: four bytes with the
/// length of what follows, most significant first, a byte for the kind, and the content.
package enum RemoteFrame: Hashable, Sendable {
    /// The protocol versions that an end supports, and the version of its program; the first frame of each end.
    case hello(RemoteHello)
    /// The description of the key for the far end's programs: an answer to getInfo. The second frame of the near end.
    case key([UInt8])
    /// The answer to reset of the card, in the place of ``key(_:)``: the far end shows a reader, not a security key.
    case card([UInt8])
    /// A CTAP2 message for the key, or what vpcd sends to a card, and its number. One at a time: the next one follows the
    /// reply.
    case request(UInt32, [UInt8])
    /// The request with this number waits for its user.
    case touch(UInt32)
    /// The key's answer to the request with this number.
    case reply(UInt32, [UInt8])
    /// The request with this number is cancelled; its reply still follows.
    case cancel(UInt32)
    /// A sign of life.
    case alive
    /// The sender ends the connection.
    case end(RemoteEnding)

    /// The first bytes that each end sends. Anything that a shell at the far end writes before them is skipped.
    package static let greeting = Array("ykit-remote\n".utf8)
    /// The largest content of a frame, in bytes: a message as large as CTAPHID carries, and its number.
    package static let limit = CTAPHID.messageLimit + 4
}

/// The protocol versions that an end supports, and its program.
package struct RemoteHello: Hashable, Sendable {
    /// The versions that this program supports.
    package static let spoken: ClosedRange<UInt8> = 1...2
    /// The first version with ``RemoteFrame/card(_:)``.
    package static let withCards: UInt8 = 2

    /// The lowest and the highest version.
    package let versions: ClosedRange<UInt8>
    /// The version of the program, at most 64 bytes; for the other end, what it claims.
    package let program: String

    package init(versions: ClosedRange<UInt8> = spoken, program: String) {
        (self.versions, self.program) = (versions, program)
    }

    /// The highest version that both ends support, which each computes on its own; `nil` if there is none.
    package func common(with other: RemoteHello) -> UInt8? {
        let highest = min(versions.upperBound, other.versions.upperBound)
        return highest >= max(versions.lowerBound, other.versions.lowerBound) ? highest : nil
    }
}

/// Why an end ends the connection.
public struct RemoteEnding: Hashable, Sendable {
    /// The number of the reason; numbers without a name can occur.
    public struct Reason: OpenSet {
        /// The number.
        public let rawValue: UInt8
        /// Wraps a number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The sender is done, or was interrupted.
        public static let done = Reason(rawValue: 0)
        /// The ends have no version in common.
        public static let incompatible = Reason(rawValue: 1)
        /// The far end cannot create a device.
        public static let noDevice = Reason(rawValue: 2)
        /// The other end violated the protocol.
        public static let violation = Reason(rawValue: 3)
        /// The far end has no reader to put the card into.
        public static let noReader = Reason(rawValue: 4)

        /// The number.
        public var description: String { "reason \(rawValue)" }
    }

    /// The reason.
    public let reason: Reason
    /// The reason in words, at most 512 bytes; from the other end, unverified.
    public let text: String

    /// Creates an ending.
    package init(_ reason: Reason, _ text: String = "") { (self.reason, self.text) = (reason, text) }
}
