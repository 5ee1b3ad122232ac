// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The features of a key's FIDO application: the version of the specification, and the vendor's options.
public struct FIDOFeatures: Hashable, Sendable {
    /// A version of CTAP.
    public enum Version: String, Hashable, Sendable, CaseIterable, Comparable {
        /// CTAP 2.0: PIN protocol 1, no permissions, no credential management.
        case v20 = "2.0"
        /// CTAP 2.1 before it was finished: the preview commands.
        case v21Pre = "2.1-pre"
        /// CTAP 2.1.
        case v21 = "2.1"
        /// CTAP 2.3.
        case v23 = "2.3"

        /// Whether the first version is older.
        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
        /// The version of a YubiKey 5 with this firmware: 2.0 before 5.2, the preview of 2.1 before 5.5, 2.3 from 5.8 on.
        public init(of firmware: FirmwareVersion) {
            self =
                switch firmware {
                case ..<FirmwareVersion(5, 2, 0): .v20
                case ..<FirmwareVersion(5, 5, 0): .v21Pre
                case ..<DeviceProfile.firmware58: .v21
                default: .v23
                }
        }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The version.
    public var version: Version
    /// Whether the key has a fingerprint sensor.
    public var hasFingerprints: Bool
    /// Whether a PIN grants no token for registration and assertion (option noMcGaPermissionsWithClientPin).
    public var needsFingerprintForCeremonies: Bool
    /// Whether non-discoverable credentials are created without user verification (makeCredUvNotRqd).
    public var registersWithoutVerification: Bool
    /// The time after power-up during which the key can be reset, in seconds; `nil` for no limit.
    public var resetWindow: Int?
    /// Whether the key can be configured to require a long touch for a reset (CTAP 2.3; no YubiKey can).
    public var canRequireLongTouch = false
    /// Whether credentials store their large blobs themselves (largeBlob, CTAP 2.3; no YubiKey does), instead of the large-blob
    /// array.
    public var hasDirectLargeBlobs = false
    /// The relying parties that get an attestation with the serial number on request (vendor-facilitated enterprise
    /// attestation).
    public var enterpriseRelyingParties: [String]

    /// Creates features; by default those of a CTAP 2.1 key with a PIN.
    public init(
        version: Version = .v21, hasFingerprints: Bool = false, needsFingerprintForCeremonies: Bool = false,
        registersWithoutVerification: Bool = true, resetWindow: Int? = nil,
        enterpriseRelyingParties: [String] = ["enterprise.example.com"]
    ) {
        self.version = version
        self.hasFingerprints = hasFingerprints
        self.needsFingerprintForCeremonies = needsFingerprintForCeremonies
        self.registersWithoutVerification = registersWithoutVerification
        self.resetWindow = resetWindow
        self.enterpriseRelyingParties = enterpriseRelyingParties
    }
}
