// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

extension FIDOAuthenticator {
    private typealias Key = CTAPProtocol.LargeBlobs.Request

    /// The maximum size of a fragment, in bytes (CTAP 2.2 §6.10.2).
    private static let fragmentLimit = messageLimit - 64

    /// largeBlobs (CTAP 2.2 §6.10.2).
    mutating func largeBlobs(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let (count, fragment, offset) = try Self.read { () throws(WireError) in
            (
                try fields.optional(Key.get, .unsigned), try fields.optional(Key.set, .bytes),
                try fields.optional(Key.offset, .unsigned)
            )
        }
        guard (count == nil) != (fragment == nil), let offset = offset.flatMap({ Int(exactly: $0) }) else {
            throw .ctap(Status.invalidParameter)
        }
        if let count {
            let isForWriting = [Key.length, Key.pinUvAuthParam, Key.pinUvAuthProtocol].contains {
                fields.map[$0] != nil
            }
            guard !isForWriting else { throw .ctap(Status.invalidParameter) }
            guard count <= Self.fragmentLimit else { throw .ctap(Status.invalidLength) }
            guard offset <= memory.largeBlobs.count else { throw .ctap(Status.invalidParameter) }
            return .map(
                CBOR.Map(keys: [
                    CTAPProtocol.LargeBlobs.Reply.config: .bytes(
                        Array(memory.largeBlobs.dropFirst(offset).prefix(Int(clamping: count))))
                ]))
        }
        try write(fragment ?? [], at: offset, fields)
        return nil
    }

    private mutating func write(_ fragment: [UInt8], at offset: Int, _ fields: CBOR.Fields) throws(Refusal) {
        let (total, proof) = try Self.read { () throws(WireError) in
            (try fields.optional(Key.length, .unsigned), try fields.optional(Key.pinUvAuthParam, .bytes))
        }
        guard fragment.count <= Self.fragmentLimit else { throw .ctap(Status.invalidLength) }
        guard (offset == 0) == (total != nil) else { throw .ctap(Status.invalidParameter) }
        if let total {
            guard total <= UInt64(FIDOMemory.largeBlobLimit) else { throw .ctap(Status.largeBlobStorageFull) }
            guard total >= 17 else { throw .ctap(Status.invalidParameter) }
            power.blobWrite = (Int(clamping: total), [])
        }
        guard var pending = power.blobWrite, pending.bytes.count == offset else { throw .ctap(Status.invalidSequence) }
        if isProtected || memory.alwaysUV {
            guard let proof else { throw .ctap(Status.pinUvAuthTokenRequired) }
            var message = ByteWriter(capacity: 70)
            message.append(repeatElement(0xFF, count: 32))
            message.append([CTAPProtocol.Command.largeBlobs, 0x00])
            message.littleEndian(UInt64(clamping: offset), 4)
            message.append(HashAlgorithm.sha256.hash(fragment))
            try check(
                proof: proof, try pinProtocol(fields, at: Key.pinUvAuthProtocol.cbor), over: message.bytes,
                permission: 0x10)
        }
        guard pending.bytes.count + fragment.count <= pending.expected else { throw .ctap(Status.invalidParameter) }
        pending.bytes += fragment
        power.blobWrite = pending
        guard pending.bytes.count == pending.expected else { return }
        power.blobWrite = nil
        let checksum = HashAlgorithm.sha256.hash(pending.bytes.dropLast(16)).prefix(16)
        guard checksum == pending.bytes.suffix(16) else { throw .ctap(Status.integrityFailure) }
        memory.largeBlobs = pending.bytes
    }
}

/// largeBlob (CTAP 2.3 §12.4): blobs that discoverable credentials store themselves. The host compresses them.
extension FIDOAuthenticator {
    /// Checks the input of makeCredential; a credential that is not stored cannot have a blob.
    func checkDirectBlob(_ input: CreationInput) throws(Refusal) {
        guard let support = input.extensions["largeBlob"]?.map?["support"]?.text else {
            if input.extensions["largeBlob"] != nil { throw .ctap(Status.missingParameter) }
            return
        }
        guard ["required", "preferred"].contains(support) else { throw .ctap(Status.invalidParameter) }
        guard support == "preferred" || input.options.isResident == true else { throw .ctap(Status.invalidOption) }
    }

    /// Checks the input of getAssertion: read, or write to one credential.
    func checkDirectBlob(_ input: AssertionInput) throws(Refusal) {
        guard let map = input.extensions["largeBlob"]?.map else { return }
        let isRead = map["read"]?.bool == true
        let isWrite = map["write"]?.bytes != nil && map["originalSize"]?.unsigned != nil
        guard isRead != isWrite, isWrite || map["write"] == nil else { throw .ctap(Status.invalidParameter) }
        guard !isWrite || input.allowed?.count == 1 else { throw .ctap(Status.invalidOption) }
    }

    /// Reads or writes the blob of the credential that signs, and returns the unsigned output; `nil` if that was not
    /// requested, or there is no blob to read.
    mutating func useDirectBlob(of credential: VirtualCredential, _ input: AssertionInput) -> CBOR? {
        guard let map = input.extensions["largeBlob"]?.map else { return nil }
        let index = memory.credentials.firstIndex { $0.id == credential.id }
        let stored = index.flatMap { memory.credentials[$0].directBlob }
        guard let bytes = map["write"]?.bytes, let size = map["originalSize"]?.unsigned else {
            guard let stored, !stored.bytes.isEmpty else { return nil }
            return ["blob": .bytes(stored.bytes), "originalSize": .unsigned(stored.size)]
        }
        guard let index, stored != nil, bytes.count <= VirtualCredential.DirectBlob.limit, size <= UInt64(Int64.max)
        else {
            return ["written": false]
        }
        memory.credentials[index].directBlob = VirtualCredential.DirectBlob(bytes: bytes, size: size)
        return ["written": true]
    }
}
