// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why a PIV operation failed.
public enum PIVError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that means nothing special here.
    case card(CardError)

    /// The PIN, PUK or finger is not the right one (63Cx); so many tries are left.
    case wrong(PIVReference, triesLeft: Int)
    /// No try is left (6983).
    case blocked(PIVReference)
    /// An empty PIN or PUK is never sent.
    case emptyPIN
    /// A PIN or PUK has at most 8 bytes; nothing was sent.
    case badPINLength(Int)
    /// A PIN or PUK of this card has more bytes; nothing was sent.
    case shortPIN(PIVReference, Int, least: Int)
    /// A PIN or PUK has no control characters and no byte FF; nothing was sent.
    case unusablePIN
    /// The new PIN or PUK is against the card's rules (6A80, 6985 to CHANGE REFERENCE).
    case refusedPIN(StatusWord)
    /// The PIN has to be given first (6982).
    case pinRequired
    /// Nobody touched the key in time (6982 though the PIN was given).
    case touchTimeout

    /// The management key has to be given first (6982).
    case managementKeyRequired
    /// The management key is not the right one; there is no limit of tries.
    case wrongManagementKey
    /// The card's management key is of another type and length than this; nothing was sent.
    case managementKeyLength(Int, needs: ManagementKeyType)
    /// The card has a management key of a type that is not known here.
    case unknownManagementKeyType(ManagementKeyType?)
    /// The card did not prove that it knows the management key.
    case notAuthentic

    /// No object of that name is on the card (6A82).
    case noSuchObject(PIVObjectID)
    /// The slot has no key (6A88, 6A80 or 6985).
    case noKey(PIVSlot)
    /// The slot takes no key pair, or no certificate; nothing was sent.
    case unusableSlot(PIVSlot)
    /// There is no room (6A84).
    case full
    /// The card's firmware lacks this; `has` is `nil` when its version does not tell.
    case unsupported(PIVFeature, needs: Version, has: Version?)
    /// The card refuses this kind of key (6A80, 6A81 or 6A86).
    case unsupportedAlgorithm(PIVAlgorithm)
    /// A key of the FIPS series takes no keys until PIN, PUK and management key are its owner's (6985).
    case notApproved
    /// RSA keys made by this firmware can be broken (ROCA, CVE-2017-15361, YSA-2017-01); nothing was sent.
    case weakGeneration(Version)
    /// The operation is not for this kind of key; nothing was sent.
    case unfit(PIVAlgorithm, for: PIVOperation)
    /// The key in the slot was not made on the card, so it cannot be attested (6A80).
    case notAttestable(PIVSlot)
    /// The input is too long or too short for the key; nothing was sent.
    case badInput(String)
    /// PIV, or this library, has no keys of this kind.
    case unsupportedKey(String)
    /// The card has no such slot, or stores no keys in it.
    case noSuchSlot(PIVSlot)
    /// The card's signature does not verify with the public key of the slot.
    case wrongSignature(PIVSlot)
    /// What was decrypted has not the padding it should have: it was not encrypted for this key, or otherwise.
    case notDecrypted

    /// The object is not what it should be.
    case malformedObject(PIVObjectID, WireError)
    /// The compressed certificate is damaged, or too long when it is inflated.
    case notInflated(limit: Int)
    /// The bytes are not a certificate.
    case notCertificate(String)
    /// The certificate, or the key, does not belong to the key in the slot.
    case mismatch(PIVSlot)
    /// The text is not a distinguished name (RFC 4514).
    case invalidName(String)
    /// The chain does not lead from the attestation to a root.
    case chain(AttestationProblem)
    /// The file holds no key and no certificate that can be used.
    case invalidFile(KeyFileError)

    /// The reply to the command that makes a change was lost: it is made, or it is not.
    indirect case uncertain(PIVChange, PIVError)
    /// A change is made, and a later step of the operation failed.
    indirect case unfinished(PIVChange, PIVError)
    /// The card accepted a change and then reports that it was not made.
    case notApplied(PIVChange)
    /// The card accepted an object and then returns another one.
    case notStored(PIVObjectID)
    /// The printed object holds something else than a management key; nothing was written.
    case printedInUse

    /// A PIN-protected management key is not on this card.
    case notProtected
    /// Fingerprints are enrolled: only a reset of the whole key clears this application.
    case fingerprintsConfigured
    /// The application is reset only when PIN and PUK are blocked (6985).
    case resetNotAllowed
    /// A primitive failed on this computer.
    case crypto(CryptoFault)
}

/// What an operation changes on a card.
public enum PIVChange: Hashable, Sendable {
    /// The PIN.
    case pin
    /// The PUK.
    case puk
    /// How often PIN and PUK may be wrong, and both of them: they become those of a new card.
    case retries
    /// The management key; whether the PIN leads to the new one.
    case managementKey(protected: Bool)
    /// The key in a slot.
    case key(PIVSlot)
    /// The certificate in a slot.
    case certificate(PIVSlot)
    /// Everything: the application is reset.
    case reset
}

/// What a private key does.
public enum PIVOperation: String, Sendable, Hashable {
    /// It signs.
    case sign
    /// It decrypts.
    case decrypt
    /// It agrees on a secret.
    case derive
}
