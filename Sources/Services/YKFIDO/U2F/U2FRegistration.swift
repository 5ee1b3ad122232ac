// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The response to U2F REGISTER (FIDO U2F Raw Message Formats 1.2 §4.3).
public struct U2FRegistration: Hashable, Sendable {
    /// The new public key: 04, x, y.
    public let publicKey: [UInt8]
    /// The key handle, 1 to 255 bytes.
    public let keyHandle: [UInt8]
    /// The attestation certificate, DER.
    public let certificate: [UInt8]
    /// The attestation signature, DER.
    public let signature: [UInt8]

    /// Reads a response; trailing bytes are an error.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.byte("the reserved byte") == 0x05 else {
            throw WireError(.malformed, at: 0, "a registration begins with 05")
        }
        publicKey = try reader.bytes(65, "the public key")
        guard publicKey.first == 0x04 else {
            throw WireError(.malformed, at: 1, "the public key is not an uncompressed point")
        }
        let length = Int(try reader.byte("the length of the key handle"))
        guard length > 0 else { throw WireError(.malformed, at: 66, "an empty key handle") }
        keyHandle = try reader.bytes(length, "the key handle")
        let start = reader.offset
        guard reader.peek == 0x30 else { throw WireError(.malformed, at: start, "a certificate begins with 30") }
        var look = reader
        let inner = try look.tlv(0x30, "the certificate")
        certificate = try reader.bytes(look.offset - start, "the certificate")
        _ = inner
        signature = reader.rest()
        guard (8...72).contains(signature.count) else {
            throw WireError(.malformed, at: start + certificate.count, "a signature of \(signature.count) bytes")
        }
    }

    /// The bytes that are signed (§4.3).
    public func signedBytes(challengeHash: [UInt8], applicationHash: [UInt8]) -> [UInt8] {
        [0x00] + applicationHash + challengeHash + keyHandle + publicKey
    }

    /// The public key in COSE form.
    public var coseKey: COSEKey {
        COSEKey(
            ec2: .p256, algorithm: .es256, x: Array(publicKey.dropFirst().prefix(32)),
            y: Array(publicKey.dropFirst(33)))
    }

    /// The registration as a WebAuthn attestation object of format fido-u2f (CTAP 2.2 §7.1.4).
    public func attestationObject(applicationHash: [UInt8]) -> AttestationObject {
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: [UInt8](repeating: 0, count: 16), id: keyHandle, publicKey: coseKey)
        let data = AuthenticatorData(
            rpIDHash: applicationHash, flags: .userPresent, counter: 0, credential: credential)
        return AttestationObject(
            format: .fidoU2F, authenticatorData: data,
            statement: ["sig": .bytes(signature), "x5c": [.bytes(certificate)]])
    }
}

/// The response to U2F AUTHENTICATE (FIDO U2F Raw Message Formats 1.2 §5.4).
public struct U2FSignature: Hashable, Sendable {
    /// Bit 0: the user was present.
    public let presence: UInt8
    /// The signature counter.
    public let counter: UInt32
    /// The signature, DER.
    public let signature: [UInt8]

    /// Reads a response; trailing bytes are an error.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        presence = try reader.byte("the presence byte")
        counter = try reader.uint32("the counter")
        signature = reader.rest()
        guard (8...72).contains(signature.count) else {
            throw WireError(.malformed, at: 5, "a signature of \(signature.count) bytes")
        }
    }

    /// The bytes that are signed (§5.4).
    public func signedBytes(challengeHash: [UInt8], applicationHash: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 69)
        writer.append(applicationHash)
        writer.byte(presence)
        writer.bigEndian(UInt64(counter), 4)
        writer.append(challengeHash)
        return writer.bytes
    }

    /// The response as WebAuthn authenticator data (CTAP 2.2 §7.2.4).
    public func authenticatorData(applicationHash: [UInt8]) -> AuthenticatorData {
        AuthenticatorData(rpIDHash: applicationHash, flags: .init(rawValue: presence & 0x05), counter: counter)
    }
}
