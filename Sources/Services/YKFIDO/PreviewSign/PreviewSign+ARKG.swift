// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

extension PreviewSign {
    /// COSE_Sign_Args: what a key needs besides the message to sign (draft-bradleylundberg-cfrg-arkg-10, COSE Signing
    /// Arguments).
    public struct Arguments: Hashable, Sendable {
        /// The algorithm.
        public let algorithm: COSEAlgorithm
        /// The arguments, by number.
        public let map: CBOR.Map

        /// Creates the arguments for a key derived by ARKG-P256.
        public init(keyHandle: [UInt8], context: [UInt8]) {
            algorithm = .esp256SplitARKG
            map = [3: .int(algorithm.rawValue), -1: .bytes(keyHandle), -2: .bytes(context)]
        }

        /// Decodes arguments.
        public init(decoding bytes: [UInt8]) throws(WireError) {
            let fields = try CBOR.Fields(decoding: bytes, "the arguments of the signature")
            algorithm = COSEAlgorithm(rawValue: try fields.required(3, .int))
            map = fields.map
            guard algorithm == .esp256SplitARKG else { return }
            let (handle, context) = (try fields.required(-1, .bytes), try fields.required(-2, .bytes))
            guard handle.count == ARKGP256.handleSize, context.count <= ARKGP256.contextLimit else {
                throw WireError(
                    .malformed, at: 0,
                    "the arguments of ARKG-P256: \(handle.count) and \(context.count) bytes, expected 81 and at most 64"
                )
            }
        }

        /// The arguments in CTAP2's canonical form.
        public var encoded: [UInt8] { CBOR.map(map).encoded }

        /// Refuses a message whose length does not suit the algorithm.
        func check(_ toBeSigned: [UInt8]) throws(WireError) {
            guard [.esp256SplitARKG, .esp256Split].contains(algorithm), toBeSigned.count != 32 else { return }
            throw WireError(
                .malformed, at: 0, "\(toBeSigned.count) bytes to be signed, but \(algorithm) signs a 32-byte SHA-256")
        }
    }

    /// An ARKG-P256 seed: anyone who has it can derive public keys, for which only the key with the seed's private half
    /// can sign.
    public struct Seed: Hashable, Sendable {
        /// The seed as the key reported it.
        public let publicKey: COSEKey
        private let points: ARKGP256.PublicSeed

        /// Reads a seed: key type -65537, algorithm -65700, two points on P-256, and ESP256 as the algorithm of derived keys.
        ///
        /// - Throws: `badKey`.
        public init(_ key: COSEKey) throws(VerificationProblem) {
            guard key.material == .other(type: -65537), key.algorithm == .arkgP256,
                key.map[-3]?.int == COSEAlgorithm.esp256.rawValue
            else { throw .badKey("it is not a seed of ARKG-P256") }
            do {
                points = try ARKGP256.PublicSeed(
                    blinding: try Self.point(key.map[-1]), encapsulation: try Self.point(key.map[-2]))
            } catch { throw .badKey("a point of the seed is not on P-256") }
            publicKey = key
        }

        private static func point(_ item: CBOR?) throws(WireError) -> [UInt8] {
            guard let map = item?.map else { throw WireError(.missing, at: 0, "a point") }
            let key = try COSEKey(decoding: CBOR.map(map).encoded)
            guard case .ec2(.p256, let x, let y) = key.material else { throw WireError(.malformed, at: 0, "the curve") }
            return [0x04] + x + y
        }

        /// Derives a public key; requires no security key.
        ///
        /// - Parameters:
        ///   - input: At least 32 random bytes, used once and not kept.
        ///   - context: At most 64 bytes that separate the uses of a seed.
        /// - Throws: `CryptoFault` for other lengths.
        public func derive(_ input: borrowing Secret, context: [UInt8]) throws(CryptoFault) -> DerivedKey {
            let derived = try points.derive(input, context: context)
            let point = derived.publicKey
            return DerivedKey(
                publicKey: COSEKey(
                    ec2: .p256, algorithm: .esp256, x: Array(point[1..<33]), y: Array(point[33..<65])),
                arguments: Arguments(keyHandle: derived.keyHandle, context: context))
        }
    }

    /// A public key derived from a seed.
    public struct DerivedKey: Hashable, Sendable {
        /// The public key, which verifies signatures as any key on P-256 with SHA-256 does.
        public let publicKey: COSEKey
        /// The arguments that the signing key needs.
        public let arguments: Arguments
    }
}

extension AttestationVerification {
    /// Verifies the attestation of a signing key as that of a credential, without checking user presence.
    /// ``PreviewSign/GeneratedKey/policy`` says what the key requires.
    public func check(
        _ key: PreviewSign.GeneratedKey, clientDataHash: [UInt8]
    ) throws(VerificationProblem) -> Trust {
        var check = self
        check.requiresPresence = false
        check.requiresUserVerification = false
        return try check.check(key.attestationObject, clientDataHash: clientDataHash) {
            publicKey throws(VerificationProblem) in
            guard key.algorithm == .esp256SplitARKG else { return try publicKey.checkUsable(allowingSHA1: false) }
            _ = try PreviewSign.Seed(publicKey)
        }
    }
}
