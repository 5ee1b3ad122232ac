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

/// A firmware flaw that users should know about.
public struct FirmwareWarning: Hashable, Sendable {
    /// The advisory's number.
    public let advisory: String
    /// What it means, in a sentence.
    public let meaning: String
    private let from: FirmwareVersion
    private let before: FirmwareVersion

    /// The flaws of a firmware that affect PIV, the worst first.
    static func all(_ version: FirmwareVersion?) -> [FirmwareWarning] {
        guard let version else { return [] }
        return known.filter { ($0.from..<$0.before).contains(version) }
    }

    private static let known = [
        FirmwareWarning(
            advisory: "YSA-2017-01",
            meaning:
                "RSA keys generated on this firmware can be broken (ROCA, CVE-2017-15361); generate them elsewhere"
                + " and import them, or use an elliptic curve key",
            from: FirmwareVersion(4, 2, 0), before: FirmwareVersion(4, 3, 5)),
        FirmwareWarning(
            advisory: "YSA-2019-02",
            meaning:
                "the first random numbers after power-up are weak on the FIPS series with this firmware; RSA keys and"
                + " ECDSA signatures may have been weakened",
            from: FirmwareVersion(4, 4, 2), before: FirmwareVersion(4, 4, 5)),
        FirmwareWarning(
            advisory: "YSA-2024-03",
            meaning:
                "anyone who has the key for a while, and expensive equipment, can extract ECDSA private keys from it"
                + " (EUCLEAK); RSA keys are not affected",
            from: FirmwareVersion(5, 0, 0), before: FirmwareVersion(5, 7, 0)),
    ]
}

/// FIPS 140 requirements for the PIV application of a FIPS series key (Yubico, "YubiKey 5 FIPS Series Technical
/// Manual"). The key itself enforces the rules for new keys; here they are only reported.
public enum FIPSRule: String, Sendable, Hashable, CaseIterable {
    /// The PIN is not the default.
    case ownPIN
    /// The PUK is not the default.
    case ownPUK
    /// The management key is not the default.
    case ownManagementKey
    /// The management key uses AES, if the firmware supports it (5.4).
    case aesManagementKey
    /// RSA keys have 2048 bits or more.
    case noShortRSA
    /// X25519 is not used.
    case noX25519
    /// Every key requires the PIN.
    case pinForEveryKey

    /// Returns the rules that a key violates with this algorithm and policy.
    public static func broken(by algorithm: PIVAlgorithm, _ policy: PINPolicy) -> [FIPSRule] {
        var rules: [FIPSRule] = []
        if algorithm == .rsa1024 { rules.append(.noShortRSA) }
        if algorithm == .x25519 { rules.append(.noX25519) }
        if policy == .never { rules.append(.pinForEveryKey) }
        return rules
    }
}

extension PIVIdentity {
    /// Whether this firmware exists only in the FIPS series: 4.4 and 4.5. For firmware 5 the management application
    /// reports it.
    public var isFIPSFirmware: Bool {
        guard isYubiKey, let version else { return false }
        return (FirmwareVersion(4, 4, 0)..<FirmwareVersion(4, 6, 0)).contains(version)
    }
}

extension PIVReport {
    /// The FIPS 140 rules that the card violates, in the order of ``FIPSRule``: while PIN, PUK and management key have
    /// their defaults, a FIPS series key neither generates nor imports keys.
    public var brokenFIPSRules: [FIPSRule] {
        var broken = Set<FIPSRule>()
        if pin?.isDefault == true { broken.insert(.ownPIN) }
        if puk?.isDefault == true { broken.insert(.ownPUK) }
        if managementKey?.isDefault == true { broken.insert(.ownManagementKey) }
        if managementKey?.type == .tripleDES { broken.insert(.aesManagementKey) }
        for entry in slots where entry.slot != .attestation {
            guard let metadata = entry.metadata else { continue }
            broken.formUnion(FIPSRule.broken(by: metadata.algorithm, metadata.policies.pin))
        }
        return FIPSRule.allCases.filter(broken.contains)
    }
}
