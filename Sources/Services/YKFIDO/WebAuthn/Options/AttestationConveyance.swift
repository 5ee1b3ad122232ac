// SPDX-License-Identifier: Apache-2.0

/// The attestation that the relying party requests (WebAuthn Level 3 §5.4.7).
public enum AttestationConveyance: String, Hashable, Sendable, CaseIterable {
    /// None: the attestation is removed.
    case none
    /// A verifiable attestation in any form.
    case indirect
    /// The key's attestation.
    case direct
    /// The key's attestation, which may identify the individual key.
    case enterprise
}
