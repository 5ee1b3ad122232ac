// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// How a signature is written.
enum SignatureFormat: String, CaseIterable, ExpressibleByArgument {
    /// As X.509 and OpenSSL have it.
    case der
    /// ECDSA as two numbers of equal length (IEEE P1363, JWS); other signatures as they are.
    case raw
    /// DER in base 64.
    case base64

    /// The signature in this form.
    func encode(_ signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, algorithm)
    }

    /// The signature as bytes: of two numbers, else as the key made it.
    func bytes(of signature: [UInt8], _ algorithm: PIVAlgorithm) throws(Explanation) -> [UInt8] {
        try bytes(of: signature, size: algorithm.curve?.fieldSize)
    }

    /// The signature of a key in this form.
    func encode(_ signature: [UInt8], of key: PublicKey) throws(Explanation) -> [UInt8] {
        self == .base64 ? Array((Base64.encode(signature) + "\n").utf8) : try bytes(of: signature, key)
    }

    /// The signature of a key as bytes.
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
