// SPDX-License-Identifier: Apache-2.0

import YKCompression
public import YKCrypto
import YKTransport

extension FIDOService {
    /// Reads the blob stored under a credential's large-blob key; `nil` if there is none.
    public func largeBlob(key: SharedSecret) throws(FIDOError) -> [UInt8]? {
        try requireRecorded(key)
        for item in try session.largeBlobs().entries {
            if let entry = LargeBlobEntry(item), let blob = try entry.open(key: key.value) { return blob }
        }
        return nil
    }

    /// Returns the large-blob key of a discoverable credential: as the key lists it, otherwise from an assertion with the
    /// extension (CTAP 2.1 §12.3), for which the key must be touched. Some keys do not list it.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - rpID: The identifier of its relying party.
    ///   - willAssert: Called before the key must be touched.
    /// - Returns: `nil` if the credential was created without a large-blob key, or if the identifier is truncated.
    public func largeBlobKey(
        of credential: StoredCredential, rpID: String, willAssert: @Sendable () -> Void = {}
    ) throws(FIDOError) -> SharedSecret? {
        if let listed = credential.largeBlobKey { return SharedSecret(Secret(listed)) }
        guard try session.info().extensions.contains("largeBlobKey") else { return nil }
        willAssert()
        let hash: [UInt8]
        do { hash = try session.ctap.draw(32, secret: false) } catch { throw FIDOError(error) }
        var request = AssertionRequest(rpID: rpID, clientDataHash: hash, allowList: [credential.id])
        request.extensions.wantsLargeBlobKey = true
        do {
            return try session.assert(request).first?.response.largeBlobKey.map { SharedSecret(Secret($0)) }
        } catch .noCredentials {
            return nil
        }
    }

    /// Stores a blob under a credential's large-blob key, replacing an earlier one.
    public func setLargeBlob(_ blob: [UInt8], key: SharedSecret) throws(FIDOError) {
        try requireRecorded(key)
        var array = try session.largeBlobs()
        let nonce: [UInt8]
        do { nonce = try session.ctap.draw(AESGCM.nonceSize, secret: false) } catch { throw FIDOError(error) }
        let entry: LargeBlobEntry
        do { entry = try LargeBlobEntry(sealing: blob, key: key.value, nonce: nonce) } catch {
            throw .largeBlobs(.tooLarge(bytes: blob.count, limit: Compression.limit))
        }
        array.entries.removeAll { LargeBlobEntry($0)?.belongs(to: key.value) ?? false }
        array.entries.append(entry.cbor)
        try session.write(array)
    }

    /// Removes the blob of a credential; `false` if there was none.
    public func removeLargeBlob(key: SharedSecret) throws(FIDOError) -> Bool {
        try requireRecorded(key)
        var array = try session.largeBlobs()
        let count = array.entries.count
        array.entries.removeAll { LargeBlobEntry($0)?.belongs(to: key.value) ?? false }
        guard array.entries.count < count else { return false }
        try session.write(array)
        return true
    }

    /// Removes the blobs that belong to none of these credentials' large-blob keys, and returns how many there were.
    /// Nonstandard entries are left alone.
    public func removeOrphanedLargeBlobs(keeping keys: [SharedSecret]) throws(FIDOError) -> Int {
        for key in keys { try requireRecorded(key) }
        var array = try session.largeBlobs()
        let count = array.entries.count
        array.entries.removeAll { item in
            guard let entry = LargeBlobEntry(item) else { return false }
            return !keys.contains { entry.belongs(to: $0.value) }
        }
        let removed = count - array.entries.count
        if removed > 0 { try session.write(array) }
        return removed
    }

    /// Throws if the key was overwritten in the replayed recording and so decrypts nothing.
    private func requireRecorded(_ key: SharedSecret) throws(FIDOError) {
        guard session.ctap.environment.isRedactedReplay else { return }
        var bytes = key.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        try session.requireRecorded(bytes, "the large-blob key")
    }

    /// Returns the number of entries in the array, its size and the maximum size in bytes.
    public func largeBlobUsage() throws(FIDOError) -> (entries: Int, bytes: Int, limit: Int) {
        let array = try session.largeBlobs()
        return (array.entries.count, array.encoded.count, try session.largeBlobLimit())
    }

    // MARK: - In the credential

    /// Whether credentials store their large blobs themselves (largeBlob, CTAP 2.3 §12.4). Such a key has neither large-blob keys
    /// nor the array.
    public func hasDirectLargeBlobs() throws(FIDOError) -> Bool {
        try session.info().extensions.contains(DirectLargeBlob.identifier)
    }

    /// Reads the blob that a credential stores itself, in an assertion (CTAP 2.3 §12.4).
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - rpID: The identifier of its relying party.
    ///   - requiresPresence: Whether the key must be touched.
    /// - Returns: `nil` if there is none, or an empty one.
    /// - Throws: `unsupported` for a key with an array of large blobs, `noCredentials`, `largeBlobs(.unreadable)` and others.
    public func directLargeBlob(
        of credential: CredentialDescriptor, rpID: String, requiresPresence: Bool = true
    ) throws(FIDOError) -> [UInt8]? {
        let blob = try useDirectLargeBlob(.read, of: credential, rpID: rpID, requiresPresence).largeBlob
        return blob.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Replaces the blob that a credential stores itself, in an assertion (CTAP 2.3 §12.4), for which the key must be touched. An
    /// empty one removes it; there is no other way.
    ///
    /// - Throws: `unsupported` for a key with an array of large blobs, `noCredentials`, `largeBlobs(.notWritten)` and others.
    public func setDirectLargeBlob(
        _ blob: [UInt8], of credential: CredentialDescriptor, rpID: String
    ) throws(FIDOError) {
        let outputs = try useDirectLargeBlob(.write(blob), of: credential, rpID: rpID, true)
        guard outputs.wroteLargeBlob else { throw .largeBlobs(.notWritten) }
    }

    private func useDirectLargeBlob(
        _ action: DirectLargeBlob.Action, of credential: CredentialDescriptor, rpID: String, _ requiresPresence: Bool
    ) throws(FIDOError) -> AssertionExtensionOutputs {
        let hash: [UInt8]
        do { hash = try session.ctap.draw(32, secret: false) } catch { throw FIDOError(error) }
        var request = AssertionRequest(rpID: rpID, clientDataHash: hash, allowList: [credential])
        request.extensions.largeBlob = action
        request.requiresPresence = requiresPresence
        guard let assertion = try assert(request).first else { throw .noCredentials }
        return assertion.extensions
    }
}

extension FIDOSession {
    /// The overhead of a message in addition to the fragment (CTAP 2.2 §6.10.2).
    static let fragmentOverhead = 64

    /// The maximum size of the array; the specification's minimum is 1024 bytes.
    func largeBlobLimit() throws(FIDOError) -> Int {
        let info = try info()
        guard info.option(.largeBlobs) == true else { throw .unsupported("largeBlobs") }
        return min(Int(clamping: info.maxLargeBlobArray ?? 1024), 1 << 20)
    }

    /// Reads the whole array, fragment by fragment; a damaged one is treated as empty (CTAP 2.2 §6.10.3).
    func largeBlobs() throws(FIDOError) -> LargeBlobArray {
        let limit = try largeBlobLimit()
        let size = try fragmentSize()
        let deadline = ctap.environment.deadline()
        var bytes: [UInt8] = []
        while true {
            try check(deadline, "the array of large blobs")
            let fragment = try send(LargeBlobs.Get(offset: bytes.count, count: size))
            bytes += fragment
            if fragment.count < size { break }
            guard bytes.count <= limit + size else { throw .largeBlobs(.damaged) }
        }
        return LargeBlobArray(decoding: bytes) ?? .empty
    }

    /// Writes the whole array, fragment by fragment, each with its own proof.
    func write(_ array: LargeBlobArray) throws(FIDOError) {
        let bytes = array.encoded
        let limit = try largeBlobLimit()
        guard bytes.count <= limit else { throw .largeBlobs(.tooLarge(bytes: bytes.count, limit: limit)) }
        let size = try fragmentSize()
        for offset in stride(from: 0, to: bytes.count, by: size) {
            let fragment = Array(bytes[offset..<min(bytes.count, offset + size)])
            let message = LargeBlobs.authenticated(
                offset: offset, fragmentHash: HashAlgorithm.sha256.hash(fragment))
            try authorized(over: message, .largeBlobWrite) { auth throws(FIDOError) in
                try send(LargeBlobs.Set(fragment, offset: offset, total: bytes.count, auth: auth))
            }
        }
    }

    private func fragmentSize() throws(FIDOError) -> Int {
        max(1, try info().maxMessageSize - Self.fragmentOverhead)
    }
}
