// SPDX-License-Identifier: Apache-2.0

public import YKProtocols
public import YKTransport
public import YKWire

/// Why a management operation failed.
public enum ManagementError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that has no management meaning; the application
    /// is missing (`appletMissing`).
    case card(CardError)
    /// The named exchange with the FIDO interface failed.
    case fido(FIDOLinkError, during: String)
    /// The named exchange with the OTP interface failed.
    case otp(OTPLinkError, during: String)
    /// The reply to the named command violates the protocol.
    case malformed(WireError, during: String)
    /// The key reports more pages of device information than the limit.
    case endlessInfo
    /// The named operation requires the smart card interface.
    case notOverThisLink(String)
    /// The firmware is too old for the operation.
    case tooOld(has: FirmwareVersion, needs: FirmwareVersion)
    /// The key does not support these applications over this transport.
    case notThere(Capability, over: DeviceInfo.Transport)
    /// The change would disable everything over USB, so that nothing could be enabled again.
    case lastApplication
    /// The key's NFC is restricted: only its tag is readable over NFC until the key has been powered over USB.
    case nfcRestricted
    /// The key does not support NFC.
    case noNFC
    /// The configuration cannot be changed while these applications hold data: they must be reset first.
    case resetBlocked(Capability)
    /// A lock code protects the configuration and none was given.
    case locked
    /// A lock code was given, but the key has none.
    case notLocked
    /// The key refused the change and the lock code given with it.
    case wrongLockCode
    /// The lock code is not 16 bytes, as 32 hexadecimal digits, not all of them zero.
    case badLockCode
    /// The key accepted the change, but does not report these settings afterwards.
    case notWritten([String])
    /// The key accepted the change, but could not be read afterwards.
    indirect case unchecked(ManagementError)
    /// A touch can eject the smart card only if the smart card is the only interface.
    case touchEjectNeedsCCID
    /// The key has no such mode.
    case noSuchMode(USBMode, has: USBInterfaces)
    /// The key's applications can only be reset individually.
    case noWholeReset

    /// Whether the key is gone, as during a restart.
    var meansGone: Bool {
        let link = LinkError(causing: self)
        return link == .removed || link == .reset
    }

    /// Whether the key answered, though not what was expected; the session continues.
    var isAnswer: Bool {
        switch self {
        case .card(.status), .card(.malformed), .card(.endlessReply), .fido(.refused, _), .otp(.rejected, _),
            .malformed,
            .endlessInfo:
            true
        default: false
        }
    }

    /// Whether a recording lacks the exchange.
    package var isUnrecorded: Bool {
        switch self {
        case .card(.link(.replay)): true
        case .fido(let error, _): if case .replay? = error.link { true } else { false }
        case .otp(let error, _): if case .replay? = error.link { true } else { false }
        default: false
        }
    }

    /// Whether the key is present and refused the operation.
    var isRefusal: Bool {
        switch self {
        case .card(.status), .fido(.refused, _), .otp(.rejected, _): true
        default: false
        }
    }
}

extension ManagementError: CardCaused {
    /// The failure of the card or link, for `card`, `fido` and `otp`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .fido(let error, _): error.cardCause
        case .otp(let error, _): error.cardCause
        default: nil
        }
    }
}

extension ManagementError: CredentialRefusal {
    /// The lock code that the key refused; there is no limit to tries.
    public var refusedCredential: RefusedCredential? {
        self == .wrongLockCode ? RefusedCredential(.lockCode, triesLeft: nil) : nil
    }
}
