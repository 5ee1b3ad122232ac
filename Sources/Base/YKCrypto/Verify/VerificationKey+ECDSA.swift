// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A precomputed digest, as long as the curve's field.
protocol FieldDigest: Digest {
    var bytes: [UInt8] { get }
}

extension FieldDigest {
    var description: String { "digest" }
    func makeIterator() -> [UInt8].Iterator { bytes.makeIterator() }
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

struct Digest256: FieldDigest {
    static var byteCount: Int { 32 }
    let bytes: [UInt8]
}

private struct Digest384: FieldDigest {
    static var byteCount: Int { 48 }
    let bytes: [UInt8]
}

extension VerificationKey {
    /// ECDSA (FIPS 186-5 §6) over a digest of any hash, truncated or left-padded to the length of the curve's field;
    /// the signature is DER. P-256 and P-384 only.
    ///
    /// - Returns: `nil` for other curves, and for an invalid point or digest.
    static func isValid(_ signature: [UInt8], overDigest digest: [UInt8], _ curve: Curve, point: [UInt8]) -> Bool? {
        switch curve {
        case .p256:
            guard digest.count == Digest256.byteCount,
                let key = try? P256.Signing.PublicKey(x963Representation: point)
            else { return nil }
            guard let parsed = try? P256.Signing.ECDSASignature(rawRepresentation: numbers(signature, 32)) else {
                return false
            }
            return key.isValidSignature(parsed, for: Digest256(bytes: digest))
        case .p384:
            guard digest.count == Digest384.byteCount,
                let key = try? P384.Signing.PublicKey(x963Representation: point)
            else { return nil }
            guard let parsed = try? P384.Signing.ECDSASignature(rawRepresentation: numbers(signature, 48)) else {
                return false
            }
            return key.isValidSignature(parsed, for: Digest384(bytes: digest))
        case .p521, .secp256k1, .brainpoolP256, .brainpoolP384, .brainpoolP512: return nil
        }
    }
}

extension VerificationKey {
    /// An elliptic curve: NIST's (FIPS 186-5), secp256k1 (SEC 2), or Brainpool's (RFC 5639).
    public enum Curve: Sendable, Hashable, CaseIterable {
        /// P-256, in COSE with SHA-256.
        case p256
        /// P-384, in COSE with SHA-384.
        case p384
        /// P-521, in COSE with SHA-512.
        case p521
        /// secp256k1; like the curves below, through OpenSSL only.
        case secp256k1
        /// brainpoolP256r1.
        case brainpoolP256
        /// brainpoolP384r1.
        case brainpoolP384
        /// brainpoolP512r1.
        case brainpoolP512

        /// The hash that COSE pairs with the curve.
        public var hash: HashAlgorithm {
            switch self {
            case .p256, .secp256k1, .brainpoolP256: .sha256
            case .p384, .brainpoolP384: .sha384
            case .p521, .brainpoolP512: .sha512
            }
        }
    }

    /// ECDSA (FIPS 186-5 §6) with a hash, by default the curve's own; the signature is DER. `point` is 04, x, y.
    ///
    /// - Throws: `CryptoFault` when the point is not on the curve.
    public init(ecdsa curve: Curve, point: [UInt8], _ hash: HashAlgorithm? = nil) throws(CryptoFault) {
        let hash = hash ?? curve.hash
        do {
            switch curve {
            case .p256:
                let key = try P256.Signing.PublicKey(x963Representation: point)
                self.init { signature, message in
                    (try? P256.Signing.ECDSASignature(rawRepresentation: numbers(signature, 32))).map {
                        key.isValidSignature($0, for: hash.digest(message))
                    } ?? false
                }
            case .p384:
                let key = try P384.Signing.PublicKey(x963Representation: point)
                self.init { signature, message in
                    (try? P384.Signing.ECDSASignature(rawRepresentation: numbers(signature, 48))).map {
                        key.isValidSignature($0, for: hash.digest(message))
                    } ?? false
                }
            case .p521:
                let key = try P521.Signing.PublicKey(x963Representation: point)
                self.init { signature, message in
                    (try? P521.Signing.ECDSASignature(rawRepresentation: numbers(signature, 66))).map {
                        key.isValidSignature($0, for: hash.digest(message))
                    } ?? false
                }
            case .secp256k1, .brainpoolP256, .brainpoolP384, .brainpoolP512:
                let key = PublicKey.ec(curve, point: point)
                _ = try PublicKey(subjectPublicKeyInfo: key.subjectPublicKeyInfo)
                self.init { signature, message in key.isValid(signature, for: message, hash) }
            }
        } catch {
            throw CryptoFault("ECDSA: not a point on \(curve)")
        }
    }
}

extension VerificationKey {
    /// Converts an ECDSA signature of two numbers of equal length (RFC 7518 §3.4) to DER; `nil` for an empty or odd
    /// number of bytes.
    package static func derSignature(concatenated bytes: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 2) else { return nil }
        let half = bytes.count / 2
        return DERWriter.sequence(
            DERWriter.number(Array(bytes.prefix(half))), DERWriter.number(Array(bytes.suffix(half))))
    }
}

/// The numbers r and s of an ECDSA signature in DER (RFC 3279 §2.2.3), each as long as the curve's field; empty for any
/// other encoding. swift-crypto's own reader makes the runtime search all conformances once more than its raw form does.
private func numbers(_ signature: [UInt8], _ size: Int) -> [UInt8] {
    var reader = DERReader(signature)
    guard var pair = reader.object(0x30), let r = pair.number(), let s = pair.number(), r.count <= size,
        s.count <= size,
        DERWriter.sequence(DERWriter.number(r), DERWriter.number(s)) == signature
    else { return [] }
    return r.padded(to: size) + s.padded(to: size)
}
