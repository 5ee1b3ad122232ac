// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
import YKX509

/// A signature by an attested key over somebody's challenge, which shows that the key is at hand.
///
/// What is signed begins with a fixed text, so that whoever chooses the challenge cannot have anything else signed, such
/// as a certificate.
public struct AttestationProof: Hashable, Sendable {
    /// The challenge.
    public let challenge: [UInt8]
    /// The signature, with SHA-256: PKCS#1 v1.5 for RSA, DER for ECDSA.
    public let signature: [UInt8]

    /// The label of the PEM block.
    public static let label = "YKIT ATTESTATION PROOF"
    /// The start of every signed message.
    static let prefix = "ykit attestation proof\n"
    /// The length of a challenge in bytes.
    public static let challengeLength = 1...1024

    /// Creates a proof from its parts.
    public init(challenge: [UInt8], signature: [UInt8]) {
        self.challenge = challenge
        self.signature = signature
    }

    /// The message that a key signs for a challenge.
    public static func message(_ challenge: [UInt8]) -> [UInt8] { Array(prefix.utf8) + challenge }

    /// Reads the content of the PEM block: SEQUENCE { challenge OCTET STRING, signature OCTET STRING }.
    ///
    /// - Throws: ``AttestationError/malformed(_:)``.
    public init(decoding der: [UInt8]) throws(AttestationError) {
        do throws(WireError) {
            var outer = ByteReader(der)
            var content = try outer.der(0x30, "a proof")
            try outer.finish("the proof")
            challenge = try content.derOctets("the challenge")
            signature = try content.derOctets("the signature")
            try content.finish("the proof")
            guard Self.challengeLength.contains(challenge.count) else {
                throw WireError(.malformed, at: 0, "a challenge of \(challenge.count) bytes")
            }
        } catch { throw .malformed("\(error)") }
    }

    /// The content of the PEM block.
    public var encoded: [UInt8] {
        TLV(0x30, TLV(0x04, challenge).encoded + TLV(0x04, signature).encoded).encoded
    }

    /// The PEM block.
    public var pem: String { PEM.encode(Self.label, encoded) }

    /// Whether the key signed the challenge.
    public func isSigned(by key: PublicKey) -> Bool {
        key.isValid(signature, for: Self.message(challenge), .sha256)
    }
}

/// A challenge that an attested key, or the security key that made it, should have answered.
public struct AttestationChallenge: Hashable, Sendable {
    /// The bytes as they were given, which SSH attestations answer.
    public let bytes: [UInt8]

    /// Wraps the content of a file, or the text of an option.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes without line breaks and blanks around them, which proofs and ACME statements answer.
    public var text: [UInt8] {
        let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
        return Array(bytes.drop { blanks.contains($0) }.reversed().drop { blanks.contains($0) }.reversed())
    }

    /// The challenge in WebAuthn's client data: the bytes, or those that the text encodes in base64url.
    func matches(clientData challenge: [UInt8]) -> Bool {
        challenge == bytes || challenge == text
            || (try? Base64.decode(String(decoding: text, as: UTF8.self))) == challenge
    }
}
