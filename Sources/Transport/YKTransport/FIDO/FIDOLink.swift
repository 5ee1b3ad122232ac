// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A way to the FIDO application of a key, over HID or over a card: one message in, its answer out.
///
/// The commands are those of CTAPHID (CTAP 2.2 §11.2.9); a card carries `cbor` and `msg`. A `msg` is a U2F command
/// APDU of extended length and its answer the data and the status word (U2F raw messages §3). Synchronous, used by one
/// thread at a time, and handed over once to the service that uses it.
public protocol FIDOLink: AnyObject {
    /// The world this link works in.
    var environment: Environment { get }
    /// What the carrier said of the key.
    var profile: FIDOLinkProfile { get }
    /// How many times the key had to be selected or initialised anew, so that what it had granted is lost.
    var generation: Int { get }
    /// How many messages were sent.
    var messages: Int { get }

    /// Sends a message and gives its answer. `keepalive` is told each time the key says that it still works, or waits
    /// for its user. When the deadline is called off or over while the key works, the key is told to stop first.
    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline,
        keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8]

    /// Lets other programs use the key until the next message, where the carrier keeps them away.
    func rest()

    /// Ends the use of the key.
    func close()
}

/// What the carrier of FIDO messages said of the key.
public struct FIDOLinkProfile: Sendable, Hashable {
    /// How messages are carried.
    public enum Carrier: Sendable, Hashable {
        /// Reports of 64 bytes.
        case hid
        /// APDUs to a smart card.
        case card
    }

    /// How messages are carried.
    public var carrier: Carrier
    /// Whether CTAP2 messages are understood, as far as the carrier knows.
    public var hasCTAP2: Bool
    /// Whether U2F messages are understood, as far as the carrier knows.
    public var hasU2F: Bool
    /// Whether the key blinks when asked to.
    public var canWink: Bool
    /// The version of the device, where the carrier tells it.
    public var deviceVersion: Version?

    /// Makes a profile.
    public init(
        carrier: Carrier, hasCTAP2: Bool, hasU2F: Bool, canWink: Bool = false, deviceVersion: Version? = nil
    ) {
        self.carrier = carrier
        self.hasCTAP2 = hasCTAP2
        self.hasU2F = hasU2F
        self.canWink = canWink
        self.deviceVersion = deviceVersion
    }
}

/// What a key is doing while its answer is awaited (CTAP 2.2 §11.2.9.1.7). An open set.
public struct FIDOKeepalive: RawRepresentable, Hashable, Sendable {
    /// The status byte.
    public let rawValue: UInt8
    /// Wraps a status byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The key is at work.
    public static let processing = FIDOKeepalive(rawValue: 1)
    /// The key waits for its user to touch it.
    public static let touchNeeded = FIDOKeepalive(rawValue: 2)
}
