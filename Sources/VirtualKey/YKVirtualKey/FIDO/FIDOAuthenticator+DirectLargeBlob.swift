// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

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
