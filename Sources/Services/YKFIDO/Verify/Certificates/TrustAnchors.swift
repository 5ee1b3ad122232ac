// SPDX-License-Identifier: Apache-2.0

public import YKWire
public import YKX509

/// The certificates that the caller trusts to vouch for keys; queried for each attestation.
public struct TrustAnchors: Sendable {
    /// What an attestation states about itself.
    public struct Query: Sendable {
        /// The format of its statement.
        public let format: AttestationFormat
        /// The model of the key: 16 bytes, zero if unspecified.
        public let aaguid: [UInt8]
        /// The certificates of the attestation, the signer's first.
        public let chain: [X509Certificate]
    }

    let find: @Sendable (Query) -> [[UInt8]]

    /// Queries a closure for the trusted certificates of an attestation, DER; an empty array means that it is not
    /// trusted.
    public init(_ find: @escaping @Sendable (Query) -> [[UInt8]]) { self.find = find }

    /// Trusts the same certificates, DER, for every attestation.
    public init(_ certificates: [[UInt8]]) { find = { _ in certificates } }
}
