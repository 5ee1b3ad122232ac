// SPDX-License-Identifier: Apache-2.0

import YKCompression
import YKCrypto
import YKProtocols
import YKWire

private typealias Key = CTAPProtocol.LargeBlobs.Entry

/// The large-blob array of a key: one encrypted entry per blob, and a checksum (CTAP 2.2 §6.10.1 to §6.10.3).
/// Nonstandard entries are kept unchanged.
struct LargeBlobArray: Hashable, Sendable {
    /// The entries in order.
    var entries: [CBOR]

    /// An empty array.
    static let empty = LargeBlobArray(entries: [])
    /// Size of the checksum in bytes.
    static let checksumSize = 16

    init(entries: [CBOR]) { self.entries = entries }

    /// Reads a stored array; `nil` if the checksum is wrong, in which case the specification treats it as empty.
    init?(decoding bytes: [UInt8]) {
        guard bytes.count > Self.checksumSize else { return nil }
        let content = Array(bytes.dropLast(Self.checksumSize))
        let checksum = Array(bytes.suffix(Self.checksumSize))
        guard Self.checksum(of: content) == checksum, let array = (try? CBOR(decoding: content))?.array else {
            return nil
        }
        entries = array
    }

    /// The array as it is stored.
    var encoded: [UInt8] {
        let content = CBOR.array(entries).encoded
        return content + Self.checksum(of: content)
    }

    private static func checksum(of content: [UInt8]) -> [UInt8] {
        Array(HashAlgorithm.sha256.hash(content).prefix(checksumSize))
    }
}

/// One entry of the array: a compressed blob, encrypted with its credential's key.
struct LargeBlobEntry: Hashable, Sendable {
    let ciphertext: [UInt8]
    let nonce: [UInt8]
    let size: UInt64

    init?(_ item: CBOR) {
        guard let map = item.map, let ciphertext = map[Key.ciphertext]?.bytes, let nonce = map[Key.nonce]?.bytes,
            let size = map[Key.origSize]?.unsigned, nonce.count == AESGCM.nonceSize
        else { return nil }
        self.ciphertext = ciphertext
        self.nonce = nonce
        self.size = size
    }

    /// Encrypts a blob with a 32-byte key and a single-use nonce.
    init(sealing blob: [UInt8], key: borrowing Secret, nonce: [UInt8]) throws(CryptoFault) {
        guard let compressed = Compression.deflate(blob) else { throw CryptoFault("DEFLATE: too long") }
        size = UInt64(blob.count)
        self.nonce = nonce
        ciphertext = try AESGCM.encrypt(compressed, key: key, nonce: nonce, context: Self.context(size))
    }

    /// Returns the blob; `nil` if the entry was encrypted with another key.
    func open(key: borrowing Secret) throws(FIDOError) -> [UInt8]? {
        guard let compressed = try? AESGCM.decrypt(ciphertext, key: key, nonce: nonce, context: Self.context(size))
        else { return nil }
        guard let blob = Compression.inflate(compressed, size: size) else { throw .largeBlobs(.unreadable) }
        return blob
    }

    /// Whether the entry was encrypted with this key.
    func belongs(to key: borrowing Secret) -> Bool {
        (try? AESGCM.decrypt(ciphertext, key: key, nonce: nonce, context: Self.context(size))) != nil
    }

    var cbor: CBOR {
        .map(
            CBOR.Map(keys: [
                Key.ciphertext: .bytes(ciphertext), Key.nonce: .bytes(nonce), Key.origSize: .unsigned(size),
            ]))
    }

    private static func context(_ size: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 12)
        writer.append("blob".utf8)
        writer.littleEndian(size, 8)
        return writer.bytes
    }
}

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
