// SPDX-License-Identifier: Apache-2.0

/// Whether the key has to remember the credential itself (WebAuthn Level 3 §5.4.6).
public enum ResidentKeyRequirement: String, Hashable, Sendable, CaseIterable {
    /// It does, or the operation fails.
    case required
    /// It does where it can.
    case preferred
    /// It does not.
    case discouraged
}
