// SPDX-License-Identifier: Apache-2.0

/// A reference for VERIFY (NIST SP 800-73-4 Part 2, Table 6).
public enum PIVReference: UInt8, Sendable, Hashable, CaseIterable {
    /// The PIN.
    case pin = 0x80
    /// The PUK, which sets a new PIN.
    case puk = 0x81
    /// A fingerprint.
    case fingerprint = 0x96
}
