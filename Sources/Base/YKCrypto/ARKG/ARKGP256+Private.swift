// SPDX-License-Identifier: Apache-2.0

extension ARKGP256 {
    /// The private half of a seed, as a key holds it.
    package struct PrivateSeed: ~Copyable {
        private let blinding: Secret
        private let encapsulation: P256KeyAgreement

        /// Derives both scalars from random bytes, at least 32 each (ARKG-Derive-Seed).
        package init(blinding: borrowing Secret, encapsulation: borrowing Secret) throws(CryptoFault) {
            let agreement = try P256KeyAgreement(scalar: agreementKey(encapsulation))
            self.blinding = try P256Arithmetic.scalar(
                hashing: blinding, separation: Array("ARKG-BL-EC-KG.ARKG-P256".utf8))
            self.encapsulation = agreement
        }

        /// The public half.
        package func publicSeed() throws(CryptoFault) -> PublicSeed {
            try PublicSeed(
                blinding: [0x04] + P256KeyAgreement(scalar: blinding).publicPoint,
                encapsulation: [0x04] + encapsulation.publicPoint)
        }

        /// Derives the private scalar of a handle, 32 bytes (ARKG-Derive-Private-Key).
        ///
        /// - Throws: `CryptoFault` for a handle that was made for a different seed or context.
        package func derive(_ keyHandle: [UInt8], context: [UInt8]) throws(CryptoFault) -> Secret {
            let contexts = try Contexts(context)
            guard keyHandle.count == handleSize, keyHandle[macSize] == 0x04 else {
                throw CryptoFault("ARKG: not a key handle")
            }
            let point = Array(keyHandle.dropFirst(macSize))
            let shared = try encapsulation.shared(with: Array(point.dropFirst()))
            guard constantTimeEqual(try mac(shared, over: point, contexts), Array(keyHandle.prefix(macSize))) else {
                throw CryptoFault("ARKG: the key handle is for a different seed or context")
            }
            return try P256Arithmetic.sum(tau(shared, contexts), blinding)
        }
    }
}
