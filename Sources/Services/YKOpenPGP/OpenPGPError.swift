// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKProtocols
public import YKTransport
import YKWire

/// Why an operation of an OpenPGP card failed.
public enum OpenPGPError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that has no meaning here.
    case card(CardError)
    /// The application is terminated: a reset was started and not completed (6285 or 6985 to SELECT).
    case terminated
    /// A PIN or the reset code is wrong (6982, 63Cn, 6300).
    case wrongPIN(OpenPGPKDF.Reference, triesLeft: Int?)
    /// A PIN or the reset code has no retries left, or is not set (6983).
    case blocked(OpenPGPKDF.Reference)
    /// The PIN was compared with the user PIN, which administers the card until it has an admin PIN (Gnuk), and is wrong
    /// or blocked.
    case userPINAdministers(triesLeft: Int)
    /// A PIN must be verified first (6982).
    case pinRequired(OpenPGPKDF.Reference)
    /// A PIN has an invalid length in bytes; nothing was sent.
    case badPINLength(OpenPGPKDF.Reference, least: Int, most: Int)
    /// The new PIN or reset code violates the rules of a YubiKey (6985).
    case refusedPIN(OpenPGPKDF.Reference)
    /// No key is in the slot.
    case noKey(OpenPGPSlot)
    /// No certificate is stored for the slot.
    case noCertificate(OpenPGPSlot)
    /// Nobody touched the key in time.
    case touchTimeout(OpenPGPSlot)
    /// The touch policy of the slot is fixed; nothing was sent.
    case touchIsFixed(OpenPGPSlot)
    /// The card does not support this.
    case unsupported(String)
    /// The slot does not support keys of this type (6A80 to its attributes).
    case unsupportedKey(OpenPGPKeyType, OpenPGPSlot)
    /// The operation does not support the key in the slot.
    case unfit(OpenPGPSlot, String)
    /// The input is invalid for every card; nothing was sent.
    case badInput(String)
    /// The card stored something other than what was written.
    case notStored(String)
    /// The key in the slot cannot be attested: it was not generated on the card.
    case notAttestable(OpenPGPSlot)
    /// The card has no fingerprint for the key in the slot, or has the fingerprint of another key.
    case wrongFingerprint(OpenPGPSlot)
    /// The signature does not verify with the slot's public key.
    case wrongSignature(OpenPGPSlot)
    /// The message cannot be decrypted with this key.
    case notDecrypted
    /// Gnuk 2 accepts no keys until a key derivation is set up (6985, 6F00).
    case derivationRequired
    /// The card refused a step of a change of its key derivation; what holds now.
    case unfinished(OpenPGPStanding, CardError)
    /// A new key is in the slot, or the old one is deleted, but the card refused the rest: the attributes that were
    /// there before, or the fingerprint and the time, by which other software finds a key.
    case keyUnfinished(OpenPGPSlot, isDeleted: Bool, CardError)
    /// A new key was refused, or stored as another one, after the change of the slot's type had deleted the old one: the
    /// slot holds no key that can be used.
    indirect case keyLost(OpenPGPSlot, OpenPGPError)
    /// A reset was started: the application is terminated, or retries are used up.
    case resetUnfinished(isTerminated: Bool, CardError)
    /// The card accepted a change, but not to be asked for it afterwards.
    indirect case unchecked(String, OpenPGPError)
    /// FIPS series keys accept no keys until both PINs have been changed (6985).
    case defaultPINs
    /// Wrong PINs do not use up the retries, so the card cannot be reset; the retries that it reports now.
    case notBlocked(user: Int?, admin: Int?)
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)

    /// The meaning of a status word when a key is used.
    static func use(_ error: CardError, of slot: OpenPGPSlot, isVerified: Bool, touch: Bool) -> OpenPGPError {
        guard case .status(let status, _) = error else { return .card(error) }
        switch status {
        case .securityStatusNotSatisfied: return touch && isVerified ? .touchTimeout(slot) : .pinRequired(.user)
        case .referenceNotFound, .conditionsNotSatisfied: return .noKey(slot)
        case .securityRelated, StatusWord(0x640A): return .touchTimeout(slot)
        default: return .card(error)
        }
    }

    /// The meaning of a status word when the admin PIN is required.
    static func administration(_ error: CardError) -> OpenPGPError {
        guard case .status(.securityStatusNotSatisfied, _) = error else { return .card(error) }
        return .pinRequired(.admin)
    }
}

extension OpenPGPError: CardCaused {
    /// The failure of the card or link, for `card`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error), .unfinished(_, let error), .keyUnfinished(_, _, let error),
            .resetUnfinished(_, let error):
            error
        case .keyLost(_, let error), .unchecked(_, let error): error.cardCause
        default: nil
        }
    }
}

extension OpenPGPError: CredentialRefusal {
    /// The PIN or reset code that the card refused.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongPIN(let reference, let left): RefusedCredential(reference.kind, triesLeft: left)
        case .blocked(let reference): RefusedCredential(reference.kind, triesLeft: 0)
        case .userPINAdministers(let left): RefusedCredential(.openPGPAdminPIN, triesLeft: left)
        default: nil
        }
    }
}

extension OpenPGPKDF.Reference {
    /// The kind of credential.
    public var kind: CredentialKind {
        switch self {
        case .user: .openPGPUserPIN
        case .reset: .openPGPResetCode
        case .admin: .openPGPAdminPIN
        }
    }
}

/// What holds on a card that refused a step of a change of its key derivation.
public struct OpenPGPStanding: Sendable, Hashable {
    /// What a PIN is.
    public enum PIN: Sendable, Hashable {
        /// The one before the change.
        case old
        /// The new one.
        case new
        /// The factory default: 123456 or 12345678.
        case initial
        /// None that can be typed: the card has it in the form that is not sent.
        case unusable
        /// The new one or another.
        case unknown
    }

    /// Whether PINs are sent as hashes; `nil` if that is not known.
    public let isHashed: Bool?
    /// The user PIN.
    public let user: PIN
    /// The admin PIN.
    public let admin: PIN

    /// After a failure of the link, which leaves open whether the last command was carried out.
    static let unknown = OpenPGPStanding(isHashed: nil, user: .unknown, admin: .unknown)
}
