// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why a management operation failed.
public enum ManagementError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that means nothing special here; the
    /// application is not on the card (`appletMissing`).
    case card(CardError)
    /// The named exchange with the FIDO interface failed.
    case fido(FIDOLinkError, during: String)
    /// The named exchange with the OTP interface failed.
    case otp(OTPLinkError, during: String)
    /// The reply to the named command is not what the protocol says.
    case malformed(WireError, during: String)
    /// The key says that there are more pages of device information than there can be.
    case endlessInfo
    /// The named operation needs the smart card interface.
    case notOverThisLink(String)
    /// The firmware is older than what is asked for needs.
    case tooOld(has: Version, needs: Version)
    /// The key does not have these applications there.
    case notThere(Capability, over: DeviceInfo.Transport)
    /// Nothing would be left on over USB, and then nothing could switch anything on again.
    case lastApplication
    /// The key's NFC is restricted: but for its tag nothing can be reached over NFC until the key was in a USB port.
    case nfcRestricted
    /// The key has no NFC.
    case noNFC
    /// Applications cannot be switched while these hold something: the key has to be as after a reset.
    case resetBlocked(Capability)
    /// A lock code protects the configuration and none was given.
    case locked
    /// A lock code was given and the key has none.
    case notLocked
    /// The key refused the change that came with a lock code.
    case wrongLockCode
    /// A lock code has 16 bytes, as 32 hexadecimal digits, not all of them zero.
    case badLockCode
    /// The key took the change, but does not say afterwards that these are so.
    case notWritten([String])
    /// A touch can only eject the smart card when the smart card is the only interface.
    case touchEjectNeedsCCID
    /// The key has no such mode.
    case noSuchMode(USBMode, has: USBInterfaces)
    /// The key's applications can only be reset one by one.
    case noWholeReset
}

extension ManagementError {
    /// Whether the key is gone, as it is when it starts anew.
    var meansGone: Bool {
        let link: LinkError? =
            switch self {
            case .card(.link(let error)): error
            case .fido(let error, _): error.link
            case .otp(.device(let error), _): error
            default: nil
            }
        return link == .removed || link == .reset
    }

    /// Whether the key was there and said no.
    var isRefusal: Bool {
        switch self {
        case .card(.status), .fido(.refused, _), .otp(.rejected, _): true
        default: false
        }
    }
}
