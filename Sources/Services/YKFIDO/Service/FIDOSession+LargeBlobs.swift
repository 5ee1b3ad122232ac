// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport

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
