// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
