// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKPIV
public import YKTransport

/// A store in a file: JSON, mode 0600, written to a temporary file, synced and renamed, under a lock.
///
/// If the program is killed at any time, the file has either the old or the new content. The lock is a separate file
/// next to it (`.lock`), which is never deleted.
public struct StoreFile: Sendable {
    private let file: SharedFile
    private let service: String

    /// The path of the file.
    public var path: String { file.path }

    /// Creates a store for a path; the file is opened when first needed.
    ///
    /// - Parameters:
    ///   - service: The service that uses the store; a file of another service is refused.
    ///   - patience: How long to wait for another program's lock.
    public init(_ path: String, service: String, patience: Duration = .seconds(5)) {
        file = SharedFile(path, limit: 64 << 20, patience: patience, followsLinks: true)
        self.service = service
    }

    /// Reads the content; an empty store if the file does not exist.
    ///
    /// - Throws: `file`, `malformed`, or `laterVersion`.
    public func read() throws(StoreError) -> SealedStore {
        let bytes: [UInt8]?
        do { bytes = try file.read() } catch { throw .file(error) }
        guard let bytes else { return SealedStore(service: service) }
        return try SealedStore(parsing: bytes, service: service, path: path)
    }

    /// Whether users other than the owner can read the file.
    public var isExposed: Bool { file.isExposed }

    /// Changes the content under the lock, so that no other program writes between reading and writing.
    ///
    /// - Throws: `file`, the errors of ``read()``, or the error of `body`.
    public func update<Value>(
        _ body: (inout SealedStore) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try file.locked(StoreError.file) { () throws(StoreError) in
            var store = try read()
            let before = store
            let value = try body(&store)
            guard store != before else { return value }
            do throws(SharedFileError) { try file.replace(with: store.json) } catch { throw .file(error) }
            return value
        }
    }

    /// Adds a key that opens the store, unless its keys were changed since it was read.
    ///
    /// - Parameters:
    ///   - store: The content as it was read.
    /// - Returns: The number of keys.
    /// - Throws: `file(.inUse)` when another program changed the keys, or the errors of ``update(_:)``.
    public func add(_ seal: StoreSeal, to store: SealedStore) throws(StoreError) -> Int {
        try update { current throws(StoreError) in
            guard current.seals == store.seals else { throw .file(.inUse(path: path)) }
            current.add(seal)
            return current.seals.count
        }
    }
}

/// Why a sealed store could not be used.
public enum StoreError: Error, Hashable, Sendable {
    /// The file could not be read or written, or another program uses it.
    case file(SharedFileError)
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
