// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Which certificates the caller trusts to vouch for keys; asked for each attestation.
public struct TrustAnchors: Sendable {
    /// What an attestation says of itself.
    public struct Query: Sendable {
        /// The format of its statement.
        public let format: AttestationFormat
        /// The model of the key: 16 bytes, zero when it does not say.
        public let aaguid: [UInt8]
        /// The certificates that came with it, the one that signed first.
        public let chain: [AttestationCertificate]
    }

    let find: @Sendable (Query) -> [[UInt8]]

    /// Asks for the certificates, DER, that are trusted for an attestation; none means that it is not trusted.
    public init(_ find: @escaping @Sendable (Query) -> [[UInt8]]) { self.find = find }

    /// Trusts the same certificates, DER, for every attestation.
    public init(_ certificates: [[UInt8]]) { find = { _ in certificates } }
}
