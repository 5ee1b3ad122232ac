// SPDX-License-Identifier: Apache-2.0

public import YKWire

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
