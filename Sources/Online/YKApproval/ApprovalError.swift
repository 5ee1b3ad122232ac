// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP
public import YKOATH
public import YKPIV
public import YKStore

/// Why an approval, an enrollment or an account operation failed.
public enum ApprovalError: Error, Hashable, Sendable {
    /// The server refused or was unreachable.
    case server(ServerError)
    /// A link, a QR code or an answer is malformed.
    case malformed(String)
    /// The link has an unsupported version.
    case unsupportedVersion(String)
    /// The link's server accepts only RSA push keys; carries the kind that was offered.
    case unsupportedKey(String)
    /// The server refused the enrollment: the link was already used, has expired, or is from another server.
    case enrolmentRefused(String)

    /// The request is not one that the enrolled server would send.
    case request(PushRequestFault)
    /// The request requires one of these numbers, and none was given.
    case numberNeeded([String])
    /// The request does not offer this number.
    case numberNotOffered(String, offered: [String])
    /// The answer was signed and sent, but no usable reply was received: the server may have received it. Carries the
    /// signed text and the signature.
    case noReceipt(ServerError, signedText: String, signature: String)
    /// The server refuses polls although the clock is right: the account was deleted on the server, or has another key.
    case pollRefused
    /// The server refuses polls because of their time; this clock is behind the server's by whole seconds, or
    /// ahead of it if they are negative.
    case clock(behind: Duration)

    /// No slot of the key is free for a new account.
    case noFreeSlot
    /// The slot holds another key.
    case otherKey(PIVSlot)
    /// The key does not have the requested policies.
    case policyNotApplied(PIVSlot, String)
    /// A signature of the account's own key does not verify.
    case possession
    /// The security key has neither a FIDO2 PIN nor a fingerprint, so it cannot verify its user.
    case cannotVerifyUser
    /// The proof of presence is invalid, for the given reason.
    case unproven(String)
    /// The FIDO2 application of the security key failed.
    case fido(FIDOError)
    /// The security key failed.
    case key(PIVError)
    /// A cryptographic operation failed on this computer.
    case crypto(CryptoFault)
    /// The store of accounts failed.
    case store(StoreError)

    /// A link of an account with one-time codes is invalid.
    case link(OtpauthError)
    /// The store has no accounts.
    case noAccounts
    /// No account matches this text; `nil` if the store has no account of a suitable kind.
    case noSuchAccount(String?)
    /// The store has an account with this identifier.
    case accountExists(String)
    /// The store has as many accounts as it can hold.
    case tooManyAccounts(limit: Int)
    /// No open request has an identifier with this prefix; `nil` if no request is open.
    case noRequest(String?)
    /// The request was answered on this computer.
    case alreadyAnswered
    /// A login names a service or user other than the account's.
    case otherAccount(String)
    /// An address is on a server other than the enrolled one.
    case otherServer(String, enrolled: String)
    /// The server requires the answer to this question.
    case passphraseNeeded(String)
    /// The key in use is not the one of the account with this name.
    case wrongKey(String)
    /// The system provided no random bytes.
    case random
}
