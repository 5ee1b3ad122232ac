// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why an operation on the OTP application failed.
public enum OTPError: Error, Hashable, Sendable {
    /// The HID device failed.
    case device(LinkError)
    /// The card failed, or ended a command with a status word that has no OTP meaning.
    case card(CardError)
    /// The reply is malformed.
    case malformed(WireError)
    /// The key refused the command. For a write: the access code is missing or wrong, or the slot is protected.
    case rejected(OTPCommand)
    /// The key accepted the command, but its status does not show the change.
    case notStored(OTPSlot)
    /// Nobody touched the key in time, about 15 s.
    case notTouched
    /// The slot is empty; nothing was sent.
    case emptySlot(OTPSlot)
    /// The slot types when touched and does not answer challenges; nothing was sent.
    case notChallengeResponse(OTPSlot)
    /// The key's firmware does not support this; nothing was sent.
    case unsupported(OTPFeature, needs: FirmwareVersion, has: FirmwareVersion)
    /// The input is invalid; nothing was sent.
    case invalid(Fault)
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)

    /// Why an input is invalid.
    public enum Fault: Hashable, Sendable {
        /// The length is outside the expected range.
        case length(String, expected: ClosedRange<Int>, is: Int)
        /// The initial HOTP counter is not a multiple of 16 from 0 to 1048560.
        case counter(Int)
        /// The format is malformed.
        case format(WireError)
        /// A later part of the token identifier is modhex and an earlier one is not.
        case identifier
    }

    /// Lifts an error of the link; the only place that does.
    init(_ error: OTPLinkError) {
        switch error {
        case .device(let cause): self = .device(cause)
        case .card(let cause): self = .card(cause)
        case .rejected(let command): self = .rejected(command)
        case .notTouched: self = .notTouched
        case .malformed(let cause): self = .malformed(cause)
        }
    }
}

extension OTPError: CardCaused {
    /// The failure of the card or link, for `card`, `device` and `malformed`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .device(let error): .link(error)
        case .malformed(let error): .malformed(error, during: "OTP")
        default: nil
        }
    }
}
