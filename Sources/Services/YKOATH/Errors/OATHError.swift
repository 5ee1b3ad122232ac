// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why an OATH operation failed.
public enum OATHError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that means nothing special here.
    case card(CardError)
    /// A password was set and has not been given (6982).
    case locked
    /// The password is not the right one; OATH has no limit of tries (6A80 to VALIDATE).
    case wrongPassword
    /// An empty password is never sent.
    case emptyPassword
    /// The key did not prove that it knows the password.
    case notAuthentic(WireError)
    /// No account of that name is on the key (6984).
    case noSuchAccount
    /// There is no room for another account (6A84).
    case full
    /// A key of the FIPS series takes no accounts until it has a password (6985 to PUT).
    case notApproved
    /// A key of the FIPS series keeps its password: it can be changed, but not removed (6985 to SET CODE).
    case passwordRequired
    /// The name takes this many bytes, above 64; nothing was sent.
    case nameTooLong(bytes: Int)
    /// The name is empty; nothing was sent.
    case emptyName
    /// The secret is empty; nothing was sent.
    case emptySecret
    /// A code of this many digits cannot be had, only 6 to 8; nothing was sent.
    case unsupportedDigits(Int)
    /// The type or algorithm has no meaning here; nothing was sent.
    case unsupportedKind(OATHType, OATHAlgorithm)
    /// The key's firmware lacks this; `has` is `nil` when its version does not tell.
    case unsupported(OATHFeature, needs: Version, has: Version?)
    /// Nobody touched the key in time (6982 or 6985 to CALCULATE on an unlocked key).
    case touchTimeout
    /// The key cannot read or write an account's memory (6581).
    case damaged
    /// A primitive failed on this computer.
    case crypto(CryptoFault)
    /// The text is not an `otpauth://` URI.
    case invalidURI(OtpauthError)
    /// The text is not an `otpauth-migration://` export.
    case invalidMigration(MigrationError)
    /// The file is not a PSKC key container, or cannot be opened.
    case invalidPSKC(PSKCError)
}
