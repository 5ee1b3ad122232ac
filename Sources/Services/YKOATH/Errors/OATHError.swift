// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKProtocols
public import YKTransport
public import YKWire

/// Why an OATH operation failed.
public enum OATHError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that has no OATH meaning.
    case card(CardError)
    /// The key has the Secrets application of a Nitrokey 3, which has the identifier of OATH.
    case otherApplication
    /// A password is set and has not been given (6982).
    case locked
    /// The password is wrong; OATH has no retry counter (6A80 to VALIDATE).
    case wrongPassword
    /// The password is empty; nothing was sent.
    case emptyPassword
    /// The key did not prove that it knows the password.
    case notAuthentic(WireError)
    /// The key has no account of that name (6984).
    case noSuchAccount
    /// An account of that name exists and would be overwritten; nothing was sent.
    case exists(OATHAccountID)
    /// An account of that name was written just before and would be overwritten; nothing was sent.
    case writtenBefore(OATHAccountID)
    /// The name is a prefix of another account's name, and this firmware would damage the other account. Nothing was sent.
    case nameCollides(OATHAccountID, with: OATHAccountID)
    /// The account is stored, but the key gives its codes without the touch that it should require.
    case touchNotApplied(OATHAccountID)
    /// A later step of a change failed; what holds now.
    indirect case unfinished(OATHStanding, OATHError)
    /// The key has no room for another account (6A84).
    case full
    /// A FIPS series key accepts no accounts until a password is set (6985 to PUT).
    case notApproved
    /// A FIPS series key requires a password: it can be changed but not removed (6985 to SET CODE).
    case passwordRequired
    /// The name has this many bytes, which is more than 64; nothing was sent.
    case nameTooLong(bytes: Int)
    /// The name is empty; nothing was sent.
    case emptyName
    /// The secret is empty; nothing was sent.
    case emptySecret
    /// Codes of this many digits are not supported, only 6 to 8; nothing was sent.
    case unsupportedDigits(Int)
    /// The type or algorithm is unknown; nothing was sent.
    case unsupportedKind(OATHType, OATHAlgorithm)
    /// The key's firmware does not support this; `has` is `nil` if its version is unknown.
    case unsupported(OATHFeature, needs: FirmwareVersion, has: FirmwareVersion?)
    /// Nobody touched the key in time (6982 or 6985 to CALCULATE on an unlocked key).
    case touchTimeout
    /// The key cannot read or write the memory of an account (6581).
    case damaged
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
    /// The string is not an `otpauth://` URI.
    case invalidURI(OtpauthError)
    /// The string is not an `otpauth-migration://` export.
    case invalidMigration(MigrationError)
    /// The file is not a PSKC key container, or cannot be decrypted.
    case invalidPSKC(PSKCError)
}

/// What a change that did not finish has left on a key.
public enum OATHStanding: Hashable, Sendable {
    /// The new account is stored, and the old one is still there under this name.
    case oldRemains(OATHAccountID)
    /// The new account is stored under this name, and the old one is deleted.
    case newIsNamed(OATHAccountID)
    /// The new account is stored, and once more under this name.
    case copyRemains(OATHAccountID)
    /// The new account is stored; whether it requires a touch could not be checked.
    case unchecked(OATHAccountID)
    /// All accounts are deleted.
    case reset
}

extension OATHError: CardCaused {
    /// The failure of the card or link, for `card`; for `otherApplication`, that OATH is missing.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .unfinished(_, let error): error.cardCause
        case .otherApplication: .appletMissing(.oath)
        default: nil
        }
    }
}

extension OATHError {
    /// Lifts a card error into its OATH meaning; the only place that does.
    init(_ error: CardError, info: OATHInfo) {
        switch error {
        case .status(let status, let command):
            self = Self.meaning(status, of: command, info: info) ?? .card(error)
        case .malformed(let cause, during: Validate.name):
            self = .notAuthentic(cause)
        default:
            self = .card(error)
        }
    }

    private static func meaning(_ status: StatusWord, of command: String, info: OATHInfo) -> OATHError? {
        switch (command, status) {
        case (Validate.name, .incorrectParameters), (Validate.name, .securityStatusNotSatisfied): .wrongPassword
        case (Calculate.name, .conditionsNotSatisfied): .touchTimeout
        case (Calculate.name, .securityStatusNotSatisfied): info.isLocked ? .locked : .touchTimeout
        case (PutAccount.name, .conditionsNotSatisfied): .notApproved
        case (SetAccessKey.name, .conditionsNotSatisfied): .passwordRequired
        case (_, .securityStatusNotSatisfied): .locked
        // pico-fido refuses a wrong password with the status for an application without one.
        case (Validate.name, .dataInvalid): info.isLocked ? .wrongPassword : nil
        case (SetAccessKey.name, .dataInvalid): nil
        case (_, .dataInvalid), (_, .notFound): .noSuchAccount
        case (_, .noSpace): .full
        case (_, .memoryFailure): .damaged
        case (RenameAccount.name, .unknownInstruction), (RenameAccount.name, .functionNotSupported):
            unsupported(.rename, info: info)
        default: nil
        }
    }

    static func unsupported(_ feature: OATHFeature, info: OATHInfo) -> OATHError {
        .unsupported(feature, needs: feature.firstVersion, has: info.isYubiKey ? info.version : nil)
    }

    /// Whether the key can answer no further commands after this error; a recording that lacks one exchange may have
    /// others.
    var endsSession: Bool {
        guard case .card(.link(let cause)) = self else { return false }
        if case .replay = cause { return false }
        return true
    }
}

extension OATHError: CredentialRefusal {
    /// The password that the key refused; there is no limit to tries.
    public var refusedCredential: RefusedCredential? {
        self == .wrongPassword ? RefusedCredential(.oathPassword, triesLeft: nil) : nil
    }
}
