// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why an operation of the FIDO service failed.
public enum FIDOError: Error, Hashable, Sendable {
    /// The command failed with an error that has no case here.
    case ctap(CTAPError)
    /// The key does not support this; the string is the name in getInfo.
    case unsupported(String)
    /// The PIN is wrong; the remaining retries, if known.
    case wrongPIN(PINRetries?)
    /// Too many wrong PINs in a row: the key must be unplugged and plugged in again.
    case pinNeedsPowerCycle
    /// No PIN retries are left; only a reset helps, which erases all credentials.
    case pinBlocked
    /// The operation requires a PIN and none was given.
    case pinNeeded
    /// No PIN is set.
    case pinNotSet
    /// A PIN is already set.
    case pinAlreadySet
    /// The PIN must be changed before it can be used again.
    case pinChangeForced
    /// The new PIN is invalid.
    case unsuitablePIN(PINProblem)
    /// The key refused the new PIN: too simple, or used before.
    case pinRefused
    /// The U2F PIN of a YubiKey 4 FIPS is wrong, missing or unsuitable.
    case u2fPIN(U2FPINProblem)
    /// Built-in user verification did not recognize the user.
    case userNotRecognised
    /// Built-in user verification is blocked; the PIN unblocks it.
    case userVerificationBlocked
    /// Nobody touched the key in time.
    case touchTimeout
    /// Nobody touched the key in time, or put the card on the reader again: a card may accept one U2F ceremony each time.
    case placementTimeout
    /// The user refused; or the key was not touched in time, which CTAP 2.1 allows a key to report this way (CTAP 2.2
    /// §6.1.2).
    case denied
    /// The key has none of the credentials.
    case noCredentials
    /// The key has one of the excluded credentials.
    case credentialExcluded
    /// The key has no room for another credential.
    case full
    /// The operation is not allowed now; for a reset, the key was plugged in too long ago.
    case notAllowed(String)
    /// The key accepted a change, but does not report it afterwards.
    case notApplied(String)
    /// The key accepted a change, but could not be asked about it afterwards.
    indirect case unchecked(FIDOError)
    /// The large-blob array is damaged or too large.
    case largeBlobs(LargeBlobProblem)
    /// The signature or attestation is invalid.
    case verification(VerificationProblem)

    /// What is wrong with the U2F PIN of a YubiKey 4 FIPS.
    public enum U2FPINProblem: Hashable, Sendable {
        /// The PIN is wrong (63C0); the key does not say how many retries are left.
        case wrong
        /// No retries are left (6983).
        case blocked
        /// No PIN is set (6986).
        case notSet
        /// A PIN is already set, and the old one was not given (6700).
        case alreadySet
        /// The length of the new PIN is not in ``U2F/pinLengths``; nothing was sent.
        case badLength(bytes: Int)
        /// The key creates key pairs only once its PIN has been verified since power-up (6982).
        case needed
    }

    /// What is wrong with the large blobs.
    public enum LargeBlobProblem: Hashable, Sendable {
        /// The array's checksum is wrong.
        case damaged
        /// The array would exceed the key's storage.
        case tooLarge(bytes: Int, limit: Int)
        /// The blob cannot be authenticated or decompressed.
        case unreadable
        /// The credential did not store the blob: it cannot have one, or not one of this size.
        case notWritten
    }
}

extension FIDOError: CardCaused {
    /// The failure of the card or link, for ``ctap(_:)``.
    public var cardCause: CardError? {
        switch self {
        case .ctap(let error): error.cardCause
        case .unchecked(let error): error.cardCause
        default: nil
        }
    }
}
