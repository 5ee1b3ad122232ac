// SPDX-License-Identifier: Apache-2.0

public import YKProtocols
public import YKTransport
public import YKWire

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

extension FIDOError {
    /// Lifts a CTAP error into its FIDO meaning; the only place that does.
    init(_ error: CTAPError) {
        self =
            switch error {
            case .status(let status, let command):
                Self.meanings[status] ?? Self.meaning(status, of: command) ?? .ctap(error)
            case .link(.notTouched): .touchTimeout
            case .u2fStatus(.securityStatusNotSatisfied, "U2F REGISTER"): .u2fPIN(.needed)
            default: .ctap(error)
            }
    }

    private static let meanings: [CTAPStatus: FIDOError] = [
        .pinInvalid: .wrongPIN(nil), .pinAuthBlocked: .pinNeedsPowerCycle, .pinBlocked: .pinBlocked,
        .pinNotSet: .pinNotSet, .pinUvAuthTokenRequired: .pinNeeded, .uvInvalid: .userNotRecognised,
        .uvBlocked: .userVerificationBlocked, .userActionTimeout: .touchTimeout, .actionTimeout: .touchTimeout,
        .operationDenied: .denied, .noCredentials: .noCredentials, .credentialExcluded: .credentialExcluded,
        .keyStoreFull: .full,
    ]

    /// Whether the key can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    public var endsSession: Bool {
        guard case .ctap(.link(let failure)) = self else { return false }
        if case .card(.secureChannel) = failure { return true }
        guard let link = failure.link else { return false }
        if case .replay = link { return false }
        return true
    }

    private static func meaning(_ status: CTAPStatus, of command: String) -> FIDOError? {
        switch status {
        case .pinPolicyViolation:
            command == "clientPIN setPIN" || command == "clientPIN changePIN" ? .pinRefused : .pinChangeForced
        case .notAllowed: .notAllowed(command)
        case .integrityFailure where command.hasPrefix("largeBlobs"): .largeBlobs(.damaged)
        default: nil
        }
    }
}

extension FIDOError: CredentialRefusal {
    /// The PIN that the key refused. After three wrong ones in a row it accepts no PIN until it is unplugged and
    /// plugged in again.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongPIN(let retries): RefusedCredential(.fidoPIN, triesLeft: retries?.count)
        case .pinNeedsPowerCycle: RefusedCredential(.fidoPIN, triesLeft: nil)
        case .pinBlocked: RefusedCredential(.fidoPIN, triesLeft: 0)
        default: nil
        }
    }
}

/// Why a credential or an assertion failed verification.
public enum VerificationProblem: Error, Hashable, Sendable {
    /// The signature is invalid for the key and the data.
    case badSignature
    /// It is for another relying party.
    case otherRelyingParty
    /// The user was not present.
    case noPresence
    /// The user was not verified.
    case noUserVerification
    /// The algorithm cannot be verified here.
    case unsupportedAlgorithm(COSEAlgorithm?)
    /// The algorithm is too weak; the caller can allow it.
    case weakAlgorithm(COSEAlgorithm)
    /// The attestation format cannot be verified here.
    case unsupportedFormat(AttestationFormat)
    /// The attestation statement, or its certificate, violates its format.
    case malformedStatement(String)
    /// The certificate violates a rule of its format.
    case certificate(String)
    /// The attestation does not chain to a trusted certificate.
    case untrusted
    /// The public key is unusable, as described: not on its curve, too short, of a type that does not match its
    /// algorithm, or with forbidden parameters.
    case badKey(String)
}

/// Why a CTAP2 or U2F command failed.
public enum CTAPError: Error, Hashable, Sendable {
    /// The message or its response was not transmitted.
    case link(FIDOLinkError)
    /// The key answered the named command with an error status.
    case status(CTAPStatus, during: String)
    /// The key answered the named U2F command with an error status word.
    case u2fStatus(StatusWord, during: String)
    /// The response to the named command violates the protocol.
    case malformed(WireError, during: String)
    /// The named command is longer than the key accepts.
    case tooLong(bytes: Int, limit: Int, during: String)

    /// The CTAP2 status, for ``status(_:during:)``.
    public var status: CTAPStatus? { if case .status(let status, _) = self { status } else { nil } }
}

extension CTAPError: CardCaused {
    /// The failure of the card or link, for ``link(_:)``.
    public var cardCause: CardError? { if case .link(let error) = self { error.cardCause } else { nil } }
}
