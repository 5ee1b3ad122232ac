// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// The format of a signature.
enum SignatureFormat: String, CaseIterable, ExpressibleByArgument {
    /// The format of X.509 and OpenSSL.
    case der
    /// For ECDSA, two numbers of equal length (IEEE P1363, JWS); other signatures unchanged.
    case raw
    /// DER in base64.
    case base64

    /// Encodes the signature in this format.
    func encode(_ signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, algorithm)
    }

    /// Returns the bytes of the signature: two numbers, or unchanged from the key.
    func bytes(of signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        try bytes(of: signature, size: algorithm.curve?.fieldSize)
    }

    /// Encodes the signature of a key in this format.
    func encode(_ signature: [UInt8], of key: PublicKey) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, key)
    }

    /// Returns the bytes of a key's signature.
    func bytes(of signature: [UInt8], _ key: PublicKey) throws(Explanation) -> [UInt8] {
        let size: Int? = if case .ec(let curve, _) = key { curve.fieldSize } else { nil }
        return try bytes(of: signature, size: size)
    }

    private func bytes(of signature: [UInt8], size: Int?) throws(Explanation) -> [UInt8] {
        guard self == .raw, let size else { return signature }
        guard let numbers = try? TLV.list(TLV.list(signature).value(0x30) ?? []), numbers.count == 2 else {
            throw Explain.malformed("the key's signature is not what ECDSA makes")
        }
        return numbers.flatMap { $0.value.padded(to: size) }
    }
}
