// SPDX-License-Identifier: Apache-2.0

import YKCompression
import YKTransport
import YKWire

/// largeBlob: the large blob inside makeCredential and getAssertion (CTAP 2.3 §12.4), on keys that have neither largeBlobKey nor
/// the large-blob array. The key stores it compressed; the platform does not encrypt it.
public enum DirectLargeBlob {
    static let identifier = "largeBlob"

    /// Whether a new credential must be able to store a blob.
    public enum Support: String, Hashable, Sendable {
        /// The key refuses to create a credential that cannot store a blob.
        case required
        /// The credential can store a blob if the key supports it.
        case preferred
    }

    /// What to do with the blob in an assertion.
    public enum Action: Hashable, Sendable {
        /// Reads it.
        case read
        /// Replaces it; requires exactly one allowed credential.
        case write([UInt8])

        var cbor: CBOR {
            switch self {
            case .read: ["read": true]
            case .write(let blob):
                [
                    "write": .bytes(Compression.deflate(blob) ?? []), "originalSize": .unsigned(UInt64(blob.count)),
                ]
            }
        }

        /// Refuses a blob that is too long to compress.
        func check() throws(FIDOError) {
            guard case .write(let blob) = self, blob.count > Compression.limit else { return }
            throw .largeBlobs(.tooLarge(bytes: blob.count, limit: Compression.limit))
        }
    }

    /// What an assertion did with the blob.
    struct Output {
        private(set) var blob: [UInt8]?
        private(set) var isWritten = false

        /// Reads the unsigned output, if there was an input; a key that returns no output has done nothing.
        init(_ outputs: CBOR.Map?, for inputs: CBOR.Map) throws(FIDOError) {
            let name = CBOR.text(identifier)
            guard let input = inputs[name]?.map, let output = outputs?[name]?.map else { return }
            if input["write"] != nil { isWritten = output["written"]?.bool ?? false }
            guard input["read"] != nil, let compressed = output["blob"]?.bytes else { return }
            guard let size = output["originalSize"]?.unsigned, let whole = Compression.inflate(compressed, size: size)
            else { throw .largeBlobs(.unreadable) }
            blob = whole
        }
    }
}
