// SPDX-License-Identifier: Apache-2.0

/// Whether the credential must be discoverable (WebAuthn Level 3 §5.4.6).
public enum ResidentKeyRequirement: String, Hashable, Sendable, CaseIterable {
    /// Discoverable, or the operation fails.
    case required
    /// Discoverable if the key supports it.
    case preferred
    /// Not discoverable.
    case discouraged
}
