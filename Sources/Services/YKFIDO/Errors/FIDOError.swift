// SPDX-License-Identifier: Apache-2.0

/// Why an operation of the FIDO service failed.
public enum FIDOError: Error, Hashable, Sendable {
    /// The command failed in a way that has no name of its own here.
    case ctap(CTAPError)
    /// The key does not have what was asked for; the text names it as getInfo does.
    case unsupported(String)
    /// The PIN is wrong; so many tries are left, when the key said.
    case wrongPIN(PINRetries?)
    /// Too many wrong PINs in a row: the key has to be unplugged and plugged in again.
    case pinNeedsPowerCycle
    /// No PIN tries are left; only a reset helps, which erases all credentials.
    case pinBlocked
    /// The operation needs a PIN and none was given.
    case pinNeeded
    /// No PIN is set.
    case pinNotSet
    /// A PIN is set already.
    case pinAlreadySet
    /// The PIN has to be changed before anything else works.
    case pinChangeForced
    /// The new PIN cannot be one.
    case unsuitablePIN(PINProblem)
    /// The key does not accept the new PIN: too simple, or one that was used before.
    case pinRefused
    /// The built-in user verification did not recognise the user.
    case userNotRecognised
    /// The built-in user verification is blocked; the PIN unblocks it.
    case userVerificationBlocked
    /// Nobody touched the key in time.
    case touchTimeout
    /// The user refused; or nobody touched the key in time, which CTAP 2.1 lets a key say so (CTAP 2.2 §6.1.2).
    case denied
    /// The key has none of the credentials.
    case noCredentials
    /// The key has one of the excluded credentials.
    case credentialExcluded
    /// There is no room for another credential.
    case full
    /// The operation is not allowed now; a reset: too late after the key was plugged in.
    case notAllowed(String)
    /// The key accepted a change, but says of itself afterwards that this is not so.
    case notApplied(String)
    /// The array of large blobs is damaged, or does not fit.
    case largeBlobs(LargeBlobProblem)
    /// The signature or attestation does not hold.
    case verification(VerificationProblem)

    /// What is wrong with the large blobs.
    public enum LargeBlobProblem: Hashable, Sendable {
        /// The array's checksum does not fit it.
        case damaged
        /// The array would be longer than the key keeps.
        case tooLarge(bytes: Int, limit: Int)
        /// The blob is not authentic or cannot be inflated.
        case unreadable
    }
}
