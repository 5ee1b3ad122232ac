// SPDX-License-Identifier: Apache-2.0

/// What the FIDO application of a key can do: the version of the specification, and what is left to the maker.
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

        /// Whether the first one came earlier.
        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The version.
    public var version: Version
    /// Whether the key has a fingerprint sensor.
    public var hasFingerprints: Bool
    /// Whether a PIN gives no token for registration and assertion (option noMcGaPermissionsWithClientPin).
    public var needsFingerprintForCeremonies: Bool
    /// Whether credentials that the key does not remember are made without user verification (makeCredUvNotRqd).
    public var registersWithoutVerification: Bool
    /// How long after power-up the key can be reset, in seconds; `nil` for always.
    public var resetWindow: Int?
    /// The relying parties that get an attestation with the serial number when they ask for it themselves (enterprise
    /// attestation facilitated by the vendor).
    public var enterpriseRelyingParties: [String]

    /// Makes features; without arguments they are those of a CTAP 2.1 key with a PIN.
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
