// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A public key that verifies signatures.
public struct VerificationKey: Sendable {
    private let check: @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool

    init(check: @escaping @Sendable (_ signature: [UInt8], _ message: [UInt8]) -> Bool) { self.check = check }

    /// Ed25519 (RFC 8032); the key is 32 bytes, the signature 64.
    ///
    /// - Throws: `CryptoFault` when the key is invalid, or a point of small order, under which one signature is valid for
    ///   many messages.
    public init(ed25519 bytes: [UInt8]) throws(CryptoFault) {
        guard !SmallOrder.contains(ed25519: bytes) else { throw CryptoFault("Ed25519: a point of small order") }
        do {
            let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
            check = { signature, message in key.isValidSignature(signature, for: message) }
        } catch {
            throw CryptoFault("Ed25519: not a public key")
        }
    }

    /// Whether the signature over the message was made by the matching private key.
    public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool { check(signature, message) }
}

extension HashAlgorithm {
    /// The digest of a message, for functions that accept any digest type.
    func digest(_ message: [UInt8]) -> any Digest { RunningHash(self, of: message).value }
}
