// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why an operation on the OTP application failed.
public enum OTPError: Error, Hashable, Sendable {
    /// The HID device failed.
    case device(LinkError)
    /// The card failed, or ended a command with a status word that means nothing special here.
    case card(CardError)
    /// What came back makes no sense.
    case malformed(WireError)
    /// The key did not do it. For a slot that is written: the access code is missing or wrong, or the slot is protected.
    case rejected(OTPCommand)
    /// The key took the command and its status says otherwise.
    case notStored(OTPSlot)
    /// Nobody touched the key in its time, about 15 s.
    case notTouched
    /// The slot is empty; nothing was sent.
    case emptySlot(OTPSlot)
    /// The slot types when touched and answers no challenges; nothing was sent.
    case notChallengeResponse(OTPSlot)
    /// The key's firmware lacks this; nothing was sent.
    case unsupported(OTPFeature, needs: Version, has: Version)
    /// What was to be sent does not fit; nothing was sent.
    case invalid(Fault)
    /// A primitive failed on this computer.
    case crypto(CryptoFault)

    /// Why something cannot be sent.
    public enum Fault: Hashable, Sendable {
        /// Bytes that have to be so many.
        case length(String, expected: ClosedRange<Int>, is: Int)
        /// A starting value of HOTP's counter that is no multiple of 16 from 0 to 1048560.
        case counter(Int)
        /// A format that cannot be read.
        case format(WireError)
        /// A token identifier in which a later part is modhex and an earlier is not.
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
