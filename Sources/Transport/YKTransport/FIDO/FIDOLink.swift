// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A link to the FIDO application of a key, over HID or a card: one message in, its response out.
///
/// The commands are those of CTAPHID (CTAP 2.2 §11.2.9); a card carries `cbor` and `msg`. A `msg` is a U2F command APDU
/// of extended length, and its response is the data and the status word (U2F raw messages §3). Synchronous, used by one
/// thread at a time, and transferred once to the service that uses it.
public protocol FIDOLink: AnyObject {
    /// The environment of the link.
    var environment: ServiceEnvironment { get }
    /// The capabilities reported by the carrier.
    var profile: FIDOLinkProfile { get }
    /// How many times the key had to be selected or initialized again, which invalidates its previous grants.
    var generation: Int { get }

    /// Sends a message and returns its response. `keepalive` is called each time the key reports that it is processing,
    /// or waits for its user. When the deadline is cancelled or expires during processing, the key is told to stop
    /// first.
    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline,
        keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8]

    /// Lets other programs use the key until the next message, if the carrier locks them out.
    func rest()

    /// Closes the link.
    func close()
}

/// The capabilities of a key, as reported by the carrier of FIDO messages.
public struct FIDOLinkProfile: Sendable, Hashable {
    /// The carrier of messages.
    public enum Carrier: Sendable, Hashable {
        /// Reports of 64 bytes.
        case hid
        /// APDUs to a smart card.
        case card
    }

    /// The carrier of messages.
    public var carrier: Carrier
    /// Whether the key supports CTAP2, as far as the carrier knows.
    public var hasCTAP2: Bool
    /// Whether the key supports U2F, as far as the carrier knows.
    public var hasU2F: Bool
    /// Whether the key can blink on request.
    public var canWink: Bool
    /// The device version, if the carrier reports it.
    public var deviceVersion: FirmwareVersion?

    /// Creates a profile.
    public init(
        carrier: Carrier, hasCTAP2: Bool, hasU2F: Bool, canWink: Bool = false, deviceVersion: FirmwareVersion? = nil
    ) {
        self.carrier = carrier
        self.hasCTAP2 = hasCTAP2
        self.hasU2F = hasU2F
        self.canWink = canWink
        self.deviceVersion = deviceVersion
    }
}

/// The status of a key while its response is pending (CTAP 2.2 §11.2.9.1.7).
public struct FIDOKeepalive: OpenSet {
    /// The status byte.
    public let rawValue: UInt8
    /// Wraps a status byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// The key is processing.
    public static let processing = FIDOKeepalive(rawValue: 1)
    /// The key waits for a touch.
    public static let touchNeeded = FIDOKeepalive(rawValue: 2)
}

/// Why a FIDO message did not reach the key, or its response was not received in full.
public enum FIDOLinkError: Error, Hashable, Sendable {
    /// The card, its reader or its applications failed; an error of the card's link is contained as `card(.link)`.
    case card(CardError)
    /// The HID device failed.
    case device(LinkError)
    /// The key refused the message with a CTAPHID error.
    case refused(CTAPHID.ErrorCode)
    /// The key's response is invalid.
    case malformed(WireError)
    /// The time expired while the key waited for a touch or a finger.
    case notTouched
    /// The carrier does not support this command.
    case notCarried(CTAPHID.Command)

    /// The underlying link failure, if any.
    public var link: LinkError? { LinkError(causing: self) }
}
