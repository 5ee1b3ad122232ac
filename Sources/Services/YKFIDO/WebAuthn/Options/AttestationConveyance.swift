// SPDX-License-Identifier: Apache-2.0

/// What the relying party wants to know of the key's origin (WebAuthn Level 3 §5.4.7).
public enum AttestationConveyance: String, Hashable, Sendable, CaseIterable {
    /// Nothing: what vouches for the key is taken out.
    case none
    /// Something that can be verified, in whatever form.
    case indirect
    /// What the key says.
    case direct
    /// What the key says, and that can name the single key.
    case enterprise
}
