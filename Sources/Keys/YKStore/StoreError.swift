// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKPIV

/// Why a sealed store could not be used.
public enum StoreError: Error, Hashable, Sendable {
    /// Another program holds the lock.
    case inUse(path: String)
    /// The file could not be read; with the system's error number, if it has one.
    case unreadable(path: String, reason: String, number: Int32 = 0)
    /// The file could not be written; with the system's error number, if it has one.
    case unwritable(path: String, reason: String, number: Int32 = 0)
    /// The content is not a store, or was modified.
    case malformed(path: String, reason: String)
    /// The file was written by a later version.
    case laterVersion(path: String, Int64)
    /// The store has no keys yet.
    case noKeys
    /// The key in use is not one of the store's keys.
    case notThisKey
    /// The key's secret does not open the store: the seal was changed, or the key verified the user differently.
    case notOpened
    /// A record cannot be decrypted: it was modified, or belongs to another store.
    case recordChanged(String)
    /// The passphrase is wrong.
    case wrongPassphrase
    /// The key cannot seal: it lacks hmac-secret.
    case cannotSeal
    /// The key in a PIV slot supports neither decryption nor key agreement.
    case unfitSlot(String)
    /// The key already seals the store.
    case duplicateKey(String)
    /// No key of the store has this identifier or name.
    case noSuchKey(String)
    /// The last key cannot be removed.
    case lastKey
    /// A cryptographic operation failed.
    case crypto(CryptoFault)
    /// The FIDO application failed.
    case fido(FIDOError)
    /// The PIV application failed.
    case piv(PIVError)
    /// The system provided no random bytes.
    case random
}
