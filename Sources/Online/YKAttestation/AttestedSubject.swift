// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKPIV
public import YKSSH
import YKWire
import YKX509

/// The key that an attestation should be for.
public struct AttestedSubject: Hashable, Sendable {
    /// The key's SubjectPublicKeyInfo, DER.
    public let key: [UInt8]
    /// The application of an SSH credential.
    public let application: String?

    /// Expects a key.
    public init(_ key: PublicKey) { (self.key, application) = (key.subjectPublicKeyInfo, nil) }

    /// Expects the key and the application of an SSH credential.
    public init(_ key: SSHPublicKey) { (self.key, application) = (key.key.subjectPublicKeyInfo, key.application) }

    /// Reads a public key, a certificate or a certificate request, PEM or DER, or a line of an SSH public key.
    ///
    /// - Throws: ``AttestationError``.
    public init(parsing bytes: [UInt8]) throws(AttestationError) {
        if let (key, _) = try? SSHPublicKey.parse(line: String(decoding: bytes.prefix(1 << 16), as: UTF8.self).trimmed)
        {
            (self.key, application) = (key.key.subjectPublicKeyInfo, key.application)
            return
        }
        application = nil
        var evidence = AttestationEvidence()
        if let file = try? KeyFile(bytes), let key = file.publicKey {
            self.key = key.subjectPublicKeyInfo
            return
        }
        try evidence.add(bytes)
        let keys =
            evidence.requests.map(\.subjectPublicKeyInfo) + evidence.certificates.prefix(1).map(\.subjectPublicKeyInfo)
        guard let first = keys.first else { throw .unrecognized }
        key = first.encoded
    }

    /// Whether this is a key in whatever encoding.
    func matches(_ other: SubjectPublicKeyInfo) -> Bool {
        if key == other.encoded { return true }
        guard let own = try? PublicKey(subjectPublicKeyInfo: key) else { return false }
        return own == (try? PublicKey(subjectPublicKeyInfo: other.encoded))
    }
}
