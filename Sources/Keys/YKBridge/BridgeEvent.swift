// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKeyHost

/// An event to show to the user of a bridge.
public enum BridgeEvent: Hashable, Sendable {
    /// Programs find the bridge at this path, which is empty if it has no visible node.
    case inserted(node: String)
    /// Programs find the card in the reader of vpcd at this address.
    case cardInserted(VPCDAddress)
    /// The device was unplugged, or the card removed.
    case removed
    /// A FIDO card is ready in a reader.
    case cardReady(reader: String, isContactless: Bool)
    /// A card in a reader has no FIDO application.
    case cardForeign(reader: String)
    /// A card cannot be used at present.
    case cardFailed(reader: String, LinkError)
    /// A card was removed from its reader.
    case cardLeft(reader: String)
    /// A ceremony waits for its user.
    case waiting(BridgeWait, for: Ceremony)
    /// The wait is over.
    case waitEnded
    /// The card has answered, with this CTAP2 status (CTAP 2.2 §8.2); for U2F, 0 means success.
    case answered(Ceremony, reader: String, status: UInt8)
    /// A program asked the device to blink.
    case winked
    /// The smart card service is unavailable.
    case serviceFailed(LinkError)
}
