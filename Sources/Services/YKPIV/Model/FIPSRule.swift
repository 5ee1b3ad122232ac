// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
