// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// An attestation statement of the ACME challenge device-attest-01, format `step`: certificates, and the attested key's
/// signature over the key authorization, `TOKEN.THUMBPRINT` (RFC 8555 §8.1).
public struct StepStatement: Hashable, Sendable {
    /// The attestation and the certificates that lead to the root, DER.
    public let certificates: [[UInt8]]
    /// The signature over the key authorization.
    public let signature: [UInt8]
    /// The COSE number of the signature's algorithm.
    public let algorithm: Int64

    static let format = "step"

    /// Whether step-ca accepts a key of this type: RSA, P-256 and Ed25519. The hash is SHA-256.
    public static func accepts(_ key: PublicKey) -> Bool { algorithm(of: key) != nil }

    private static func algorithm(of key: PublicKey) -> Int64? {
        switch key {
        case .rsa: -257
        case .ec(.p256, _): -7
        case .ed25519: -8
        case .ec, .x25519: nil
        }
    }

    /// Creates a statement; `nil` for keys that step-ca does not accept.
    public init?(certificates: [[UInt8]], signature: [UInt8], of key: PublicKey) {
        guard let algorithm = Self.algorithm(of: key) else { return nil }
        self.certificates = certificates
        self.signature = signature
        self.algorithm = algorithm
    }

    /// Reads an attestation object. The signature may be encoded in CBOR once or, as step writes it, twice.
    ///
    /// - Throws: ``AttestationError/malformed(_:)``.
    init(decoding bytes: [UInt8]) throws(AttestationError) {
        do throws(WireError) {
            let fields = try CBOR.Fields(decoding: bytes, "the statement")
            let statement: CBOR.Map = try fields.required("attStmt", .map)
            guard let chain = statement["x5c"]?.array, !chain.isEmpty, chain.count <= 16 else {
                throw WireError(.missing, at: 0, "certificates (x5c)")
            }
            let certificates = chain.compactMap(\.bytes)
            guard certificates.count == chain.count else {
                throw WireError(.malformed, at: 0, "a certificate that is not a byte string")
            }
            guard let outer = statement["sig"]?.bytes else { throw WireError(.missing, at: 0, "the signature") }
            self.certificates = certificates
            signature = (try? CBOR(decoding: outer))?.bytes ?? outer
            algorithm = statement["alg"]?.int ?? 0
        } catch { throw .malformed("\(error)") }
    }

    /// The attestation object, as the member `attObj` of the answer to the challenge contains it in base64url.
    public var encoded: [UInt8] {
        let statement: CBOR = [
            "alg": .int(algorithm), "sig": .bytes(CBOR.bytes(signature).encoded),
            "x5c": .array(certificates.map { .bytes($0) }),
        ]
        let object: CBOR = ["fmt": .text(Self.format), "attStmt": statement]
        return object.encoded
    }
}
