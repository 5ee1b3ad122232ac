// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKOATH
public import YKPIV
public import YKPrivacyIDEA
public import YKStore

/// Why an approval, an enrolment or an account could not be dealt with.
public enum ApprovalError: Error, Hashable, Sendable {
    /// The server refused or could not be asked.
    case server(PrivacyIDEAError)
    /// A link, a QR code or an answer is not what it has to be.
    case malformed(String)
    /// The link is of a version that is not known here.
    case unsupportedVersion(String)
    /// The link's server accepts push keys of RSA only; the kind that was offered.
    case unsupportedKey(String)
    /// The server does not accept the enrolment: the link was used already, has expired, or is not its own.
    case enrolmentRefused(String)

    /// A request is not what the enrolled server would send.
    case request(PushRequestFault)
    /// The request wants one of these numbers, and none of them was given.
    case numberNeeded([String])
    /// The request does not offer this number.
    case numberNotOffered(String, offered: [String])
    /// The answer was signed and sent, and nothing usable came back: the server may have it. What was signed, and how.
    case noReceipt(PrivacyIDEAError, signedText: String, signature: String)
    /// The server refuses polls though the clock is right: the account was deleted there, or has another key.
    case pollRefused
    /// The server refuses polls because of their time; this clock is so many seconds behind the server's.
    case clock(behind: Int64)

    /// No slot of the key is free for a new account.
    case noFreeSlot
    /// The slot holds another key than the account's.
    case otherKey(PIVSlot)
    /// The key does not have the properties that were asked for.
    case policyNotApplied(PIVSlot, String)
    /// A signature of the account's own key does not verify.
    case possession
    /// The security key has neither a PIN for FIDO2 nor a fingerprint, so that it cannot verify its user.
    case cannotVerifyUser
    /// The proof of presence does not verify: why.
    case unproven(String)
    /// The FIDO2 application of the security key failed.
    case fido(FIDOError)
    /// The security key failed.
    case key(PIVError)
    /// A primitive failed on this computer.
    case crypto(CryptoFault)
    /// The store of accounts failed.
    case store(StoreError)

    /// A link of an account with one-time codes has a fault.
    case link(OtpauthError)
    /// A log-in names another service or person than the account's.
    case otherAccount(String)
    /// An address leads to another server than the enrolled one.
    case otherServer(String, enrolled: String)
    /// The server wants the answer to this question.
    case passphraseNeeded(String)
    /// The key at hand is not the one of the account with this name.
    case wrongKey(String)
    /// The system gave no random bytes.
    case random
}
