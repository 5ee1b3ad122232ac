// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A PIV feature that requires a minimum firmware version.
public enum PIVFeature: String, Sendable, Hashable, CaseIterable {
    /// Keys on P-384.
    case p384
    /// PIN and touch policies of keys.
    case policies
    /// The touch policy "cached".
    case cachedTouch
    /// Attestation of keys generated on the card.
    case attestation
    /// The serial number.
    case serial
    /// Metadata of keys, PIN, PUK and management key.
    case metadata
    /// AES management keys.
    case aesManagementKey
    /// RSA keys of 3072 and 4096 bits.
    case largeRSA
    /// Ed25519 and X25519.
    case curve25519
    /// Moving and deleting keys.
    case moveKey
    /// Fingerprints.
    case fingerprints

    /// The first YubiKey firmware that supports it.
    public var firstVersion: FirmwareVersion {
        switch self {
        case .p384, .policies: FirmwareVersion(4, 0, 0)
        case .cachedTouch, .attestation: FirmwareVersion(4, 3, 0)
        case .serial: FirmwareVersion(5, 0, 3)
        case .metadata: FirmwareVersion(5, 3, 0)
        case .aesManagementKey: FirmwareVersion(5, 4, 0)
        case .fingerprints: FirmwareVersion(5, 6, 0)
        case .largeRSA, .curve25519, .moveKey: FirmwareVersion(5, 7, 0)
        }
    }
}
