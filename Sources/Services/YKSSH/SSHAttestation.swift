// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The attestation of a credential as written by `ssh-keygen -O write-attestation` (OpenSSH's PROTOCOL.u2f).
public struct SSHAttestation: Hashable, Sendable {
    /// The attestation certificate, DER; empty if there is none.
    public let certificate: [UInt8]
    /// The authenticator's signature over its data and the SHA-256 of the challenge.
    public let signature: [UInt8]
    /// The authenticator's data.
    public let authenticatorData: AuthenticatorData

    /// The name of the format, with which a file begins.
    private static let name = "ssh-sk-attest-v01"
    private static let family = "ssh-sk-attest-"

    /// Creates an attestation.
    public init(certificate: [UInt8], signature: [UInt8], authenticatorData: AuthenticatorData) {
        self.certificate = certificate
        self.signature = signature
        self.authenticatorData = authenticatorData
    }

    /// Whether bytes begin like an attestation, of any version.
    public static func isRecognized(in bytes: [UInt8]) -> Bool {
        bytes.count > 4 && bytes[..<3].allSatisfy { $0 == 0 } && bytes[4...].starts(with: family.utf8)
    }

    /// Reads a file.
    ///
    /// - Throws: ``SSHError/unsupportedKey(_:)`` for other versions, ``SSHError/malformed(_:)``.
    public init(decoding bytes: [UInt8]) throws(SSHError) {
        var reader = SSHReader(bytes)
        let name = try reader.text("the name of the format")
        guard name == Self.name else {
            throw name.hasPrefix(Self.family) ? .unsupportedKey(name) : .malformed("not an attestation of ssh-keygen")
        }
        certificate = try reader.string("the certificate")
        signature = try reader.string("the signature")
        let data = try reader.string("the authenticator data")
        _ = try reader.uint32("the flags")
        _ = try reader.string("the reserved string")
        try reader.finish("the attestation")
        do throws(WireError) {
            guard case .bytes(let content) = try CBOR(decoding: data) else {
                throw WireError(.malformed, at: 0, "the authenticator data are not a byte string")
            }
            authenticatorData = try AuthenticatorData(decoding: content)
        } catch { throw .malformed("\(error)") }
        guard authenticatorData.credential != nil else { throw .malformed("the authenticator data have no credential") }
    }

    /// The content of the file.
    public var encoded: [UInt8] {
        var writer = SSHWriter()
        writer.string(Self.name)
        writer.string(certificate)
        writer.string(signature)
        writer.string(CBOR.bytes(authenticatorData.bytes).encoded)
        writer.uint32(0)
        writer.string("")
        return writer.bytes
    }
}
