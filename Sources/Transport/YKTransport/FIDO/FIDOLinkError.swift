// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why a FIDO message did not get to the key, or its answer did not come back whole.
public enum FIDOLinkError: Error, Hashable, Sendable {
    /// The card, its reader or its applications failed; the link below a card is in here as `card(.link)`.
    case card(CardError)
    /// The HID device failed.
    case device(LinkError)
    /// The key refused the message with a CTAPHID error.
    case refused(CTAPHID.ErrorCode)
    /// What the key sent is not an answer to the message.
    case malformed(WireError)
    /// The time ended while the key waited for a touch, or for a finger.
    case notTouched
    /// This carrier has no such message.
    case notCarried(CTAPHID.Command)

    /// The failure of the link at the bottom, when it was one.
    public var link: LinkError? {
        switch self {
        case .card(.link(let error)), .device(let error): error
        default: nil
        }
    }
}
