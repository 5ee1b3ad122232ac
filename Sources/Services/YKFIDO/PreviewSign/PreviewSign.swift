// SPDX-License-Identifier: Apache-2.0

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
