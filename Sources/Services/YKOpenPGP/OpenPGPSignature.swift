// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// A detached signature over a binary document, as OpenPGP software verifies it: a version 4 signature packet
/// (RFC 9580 §5.2.3).
public struct OpenPGPSignature: Hashable, Sendable {
    /// The hash function for the document and the signature's hashed subpackets.
    public let hash: HashAlgorithm
    /// When it was made, in seconds since 1970.
    public let created: Int64
    /// The version 4 fingerprint of the key, 20 bytes.
    public let fingerprint: [UInt8]
    /// The packet with its header.
    public let packet: [UInt8]

    /// The packet in ASCII armor (RFC 9580 §6.2), with the checksum that GnuPG 2.2 requires.
    public var armored: String {
        var lines = PEM.encode("PGP SIGNATURE", packet).split(separator: "\n")
        lines.insert("", at: 1)
        lines.insert("=\(Base64.encode(checksum))"[...], at: lines.count - 1)
        return lines.joined(separator: "\n") + "\n"
    }

    /// The CRC-24 of the packet (RFC 9580 §6.1.1).
    private var checksum: [UInt8] {
        var sum: UInt32 = 0xB7_04CE
        for byte in packet {
            sum ^= UInt32(byte) << 16
            for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x80_0000 == 0 ? 0 : 0x186_4CFB) }
        }
        return [16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }

    /// The part of the packet that is signed: version, type, algorithms and the hashed subpackets.
    private struct Head {
        let hash: HashAlgorithm
        let bytes: [UInt8]

        init(_ key: OpenPGPPublicKey, _ hash: HashAlgorithm, _ created: Int64) {
            let subpackets = [22, 33, 0x04] + key.fingerprint + [5, 2] + OpenPGPPublicKey.time(created)
            self.hash = hash
            bytes =
                [0x04, 0x00, key.algorithmNumber, Self.number(hash), 0, UInt8(truncatingIfNeeded: subpackets.count)]
                + subpackets
        }

        /// The number of a hash (RFC 9580 §9.5).
        private static func number(_ hash: HashAlgorithm) -> UInt8 {
            switch hash {
            case .sha1: 2
            case .sha256: 8
            case .sha384: 9
            case .sha512: 10
            }
        }

        /// The digest that the key signs (RFC 9580 §5.2.4).
        func digest(_ message: [UInt8]) -> [UInt8] {
            hash.hash(message + bytes + [0x04, 0xFF, 0, 0, 0, UInt8(truncatingIfNeeded: bytes.count)])
        }
    }

    /// Creates a signature of a message.
    ///
    /// - Parameter sign: Signs a digest with the key: RSASSA-PKCS1-v1_5, ECDSA in DER, or Ed25519.
    init(
        of message: [UInt8], by key: OpenPGPPublicKey, hash: HashAlgorithm, created: Int64,
        _ sign: (_ digest: [UInt8]) throws(OpenPGPError) -> [UInt8]
    ) throws(OpenPGPError) {
        let head = Head(key, hash, created)
        let digest = head.digest(message)
        let numbers = try Self.numbers(try sign(digest), key.key)
        let issuer = [9, 16] + key.fingerprint.suffix(8)
        let body =
            head.bytes + [0, UInt8(truncatingIfNeeded: issuer.count)] + issuer + digest.prefix(2)
            + numbers.flatMap(OpenPGPPublicKey.integer)
        self.hash = hash
        self.created = Int64(UInt32(clamping: created))
        fingerprint = key.fingerprint
        // The old form of the header with two bytes of length, as GnuPG writes it.
        packet = [0x89, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
    }

    /// The integers of a signature (RFC 9580 §5.2.3.1 to §5.2.3.3).
    private static func numbers(_ signature: [UInt8], _ key: PublicKey) throws(OpenPGPError) -> [[UInt8]] {
        switch key {
        case .rsa: return [signature]
        case .ed25519, .x25519: return [Array(signature.prefix(32)), Array(signature.dropFirst(32))]
        case .ec:
            return try lift({ OpenPGPError.card(.malformed($0, during: ComputeSignature.name)) }) {
                () throws(WireError) in
                try TLV.list(TLV.list(signature).required(0x30, "signature")).map { $0.value }
            }
        }
    }
}

extension OpenPGPService {
    /// Returns the hash of an OpenPGP signature by a key, before the PIN is verified: the given one, otherwise SHA-256
    /// or the one with the length of the key's curve.
    ///
    /// - Throws: `badInput` for SHA-1 and for a hash shorter than the curve.
    @discardableResult
    public static func hash(_ given: HashAlgorithm?, of key: PublicKey) throws(OpenPGPError) -> HashAlgorithm {
        let least = if case .ec(let curve, _) = key { min(curve.fieldSize, 64) } else { 32 }
        let suitable: HashAlgorithm = least <= 32 ? .sha256 : least <= 48 ? .sha384 : .sha512
        let hash = given ?? suitable
        guard hash.digestSize >= least else {
            throw .badInput("an OpenPGP signature with this key requires a hash of \(least) bytes or more, not \(hash)")
        }
        return hash
    }

    /// Signs a message with the signature key and returns the signature as OpenPGP software verifies it; the user PIN
    /// must be verified for signing.
    ///
    /// - Parameters:
    ///   - message: The message, of any length.
    ///   - hash: The hash; `nil` for SHA-256, or the hash with the length of the key's curve.
    /// - Throws: `wrongFingerprint` if the card stores no fingerprint of this key, which is how a verifier finds it;
    ///   `badInput` for SHA-1 and for a hash shorter than the curve; the errors of ``sign(_:hash:)``.
    public func detachedSignature(
        of message: [UInt8], hash: HashAlgorithm? = nil
    ) throws(OpenPGPError) -> OpenPGPSignature {
        let key = try publicKey(.signature)
        let stored = try keyInfo(.signature)
        let named = OpenPGPPublicKey(key, in: .signature, created: stored?.created ?? 0)
        guard stored?.fingerprint == named.fingerprint else { throw .wrongFingerprint(.signature) }
        let hash = try Self.hash(hash, of: key)
        let now = channel.environment.clock.now
        return try OpenPGPSignature(of: message, by: named, hash: hash, created: now) { digest throws(OpenPGPError) in
            try sign(.digest(digest), hash: hash)
        }
    }
}
