// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKWire

/// previewSign: keys that sign arbitrary data, created with a credential and used in its assertions (WebAuthn's sign
/// extension, version 4 of 2025-08-21; YubiKeys with firmware 5.8).
///
/// Experimental: the numbers of its algorithms will change before it is final.
public enum PreviewSign {
    static let identifier = "previewSign"
    private typealias Member = CTAPProtocol.PreviewSign

    /// What the key requires for each signature.
    public enum Policy: UInt8, Hashable, Sendable {
        /// Nothing. WebAuthn clients do not request this.
        case unattended = 0b000
        /// A touch.
        case presence = 0b001
        /// A touch, and user verification.
        case verification = 0b101
    }

    /// A request for a signing key when a credential is created.
    public struct Request: Hashable, Sendable {
        /// The acceptable algorithms, most preferred first. YubiKeys have only `esp256SplitARKG`.
        public var algorithms: [COSEAlgorithm]
        /// What the key will require.
        public var policy: Policy

        /// Creates a request.
        public init(algorithms: [COSEAlgorithm] = [.esp256SplitARKG], policy: Policy = .presence) {
            self.algorithms = algorithms
            self.policy = policy
        }

        var cbor: CBOR {
            .map(
                CBOR.Map(keys: [
                    Member.Input.alg: .array(algorithms.map { .int($0.rawValue) }),
                    Member.Input.flags: .unsigned(UInt64(policy.rawValue)),
                ]))
        }
    }

    /// A signing key that was created with a credential.
    public struct GeneratedKey: Hashable, Sendable {
        /// The algorithm that the key chose.
        public let algorithm: COSEAlgorithm
        /// The attestation of the key, as if it were a credential.
        public let attestationObject: AttestationObject
        /// The handle for using the key; it is not the credential's identifier.
        public let keyHandle: [UInt8]
        /// The public key; with ARKG the seed from which public keys are derived (``Seed``).
        public let publicKey: COSEKey

        /// What the key requires for each signature, as its attestation states; `nil` if it does not.
        public var policy: Policy? {
            let signed = attestationObject.authenticatorData.extensions?[.text(identifier)]?.map
            return signed?[Member.Output.flags]?.unsigned.flatMap(UInt8.init(exactly:)).flatMap(Policy.init(rawValue:))
        }

        /// Reads a key from its attestation.
        ///
        /// - Throws: `WireError` if there is no key, or its type does not match the algorithm.
        public init(algorithm: COSEAlgorithm, _ object: AttestationObject) throws(WireError) {
            guard let made = object.authenticatorData.credential else {
                throw WireError(.missing, at: 0, "the attestation of the signing key has no key")
            }
            if algorithm == .esp256SplitARKG {
                do { _ = try Seed(made.publicKey) } catch {
                    throw WireError(.malformed, at: 0, "the signing key is not a seed of ARKG-P256")
                }
            }
            self.algorithm = algorithm
            attestationObject = object
            keyHandle = made.id
            publicKey = made.publicKey
        }
    }

    /// A request for a signature in an assertion.
    public struct Input: Hashable, Sendable {
        /// The handle of the key.
        public let keyHandle: [UInt8]
        /// The message, or with a split algorithm its SHA-256.
        public let toBeSigned: [UInt8]
        /// COSE_Sign_Args, for algorithms that need them.
        public let arguments: [UInt8]?

        /// Creates an input.
        ///
        /// - Throws: `WireError` for an empty handle, for arguments that are not COSE_Sign_Args, and for lengths that
        ///   do not match the algorithm in them.
        public init(keyHandle: [UInt8], toBeSigned: [UInt8], arguments: [UInt8]? = nil) throws(WireError) {
            guard (1...AuthenticatorData.credentialIDLimit).contains(keyHandle.count) else {
                throw WireError(.malformed, at: 0, "a key handle of \(keyHandle.count) bytes, expected 1 to 1023")
            }
            if let arguments { try Arguments(decoding: arguments).check(toBeSigned) }
            self.keyHandle = keyHandle
            self.toBeSigned = toBeSigned
            self.arguments = arguments
        }

        var cbor: CBOR {
            var map = CBOR.Map(keys: [Member.Input.kh: .bytes(keyHandle), Member.Input.tbs: .bytes(toBeSigned)])
            map[Member.Input.args] = arguments.map(CBOR.bytes)
            return .map(map)
        }
    }
}

extension MakeCredential.Response {
    private typealias Part = CTAPProtocol.PreviewSign.Attestation
    private typealias Output = CTAPProtocol.PreviewSign.Output

    /// The signing key that previewSign created; `nil` if none was requested or created.
    func signingKey(_ request: PreviewSign.Request?) throws(WireError) -> PreviewSign.GeneratedKey? {
        let name = CBOR.text(PreviewSign.identifier)
        guard let request, authenticatorData.extensions?[name] != nil else { return nil }
        guard let algorithm = authenticatorData.previewSignAlgorithm, request.algorithms.contains(algorithm) else {
            throw WireError(.malformed, at: 0, "a signing key with an algorithm that was not requested")
        }
        guard let bytes = unsignedExtensions?[name]?.map?[Output.attObj]?.bytes else {
            throw WireError(.missing, at: 0, "the attestation of the signing key")
        }
        let fields = try CBOR.Fields(decoding: bytes, "the attestation of the signing key")
        let object = AttestationObject(
            format: AttestationFormat(rawValue: try fields.required(Part.fmt, .text)),
            authenticatorData: try AuthenticatorData(decoding: try fields.required(Part.authData, .bytes)),
            statement: try fields.optional(Part.attStmt, .map) ?? CBOR.Map())
        guard object.authenticatorData.rpIDHash == authenticatorData.rpIDHash else {
            throw WireError(.malformed, at: 0, "a signing key for another relying party")
        }
        return try PreviewSign.GeneratedKey(algorithm: algorithm, object)
    }
}

extension AuthenticatorData {
    /// The algorithm of the key that previewSign created with the credential; `nil` if it created none.
    package var previewSignAlgorithm: COSEAlgorithm? {
        let output = extensions?[.text(PreviewSign.identifier)]?.map
        return output?[CTAPProtocol.PreviewSign.Output.alg]?.int.map(COSEAlgorithm.init(rawValue:))
    }

    /// The signature of previewSign, DER; `nil` if there is none.
    package var previewSignature: [UInt8]? {
        extensions?[.text(PreviewSign.identifier)]?.map?[CTAPProtocol.PreviewSign.Output.sig]?.bytes
    }
}

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
