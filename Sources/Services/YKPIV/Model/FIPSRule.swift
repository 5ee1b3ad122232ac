// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// What FIPS 140 asks of the PIV application of a key of the FIPS series (Yubico, "YubiKey 5 FIPS Series Technical
/// Manual"). The key itself holds to the rules for new keys; here they are told, nothing is refused.
public enum FIPSRule: String, Sendable, Hashable, CaseIterable {
    /// The PIN is no longer that of a new card.
    case ownPIN
    /// The PUK is no longer that of a new card.
    case ownPUK
    /// The management key is no longer that of a new card.
    case ownManagementKey
    /// The management key is of AES, where the firmware has it (5.4).
    case aesManagementKey
    /// RSA keys have 2048 bits or more.
    case noShortRSA
    /// X25519 is not used.
    case noX25519
    /// Every key asks for the PIN.
    case pinForEveryKey

    /// The rules that a key breaks with this algorithm and policy.
    public static func broken(by algorithm: PIVAlgorithm, _ policy: PINPolicy) -> [FIPSRule] {
        var rules: [FIPSRule] = []
        if algorithm == .rsa1024 { rules.append(.noShortRSA) }
        if algorithm == .x25519 { rules.append(.noX25519) }
        if policy == .never { rules.append(.pinForEveryKey) }
        return rules
    }
}

extension PIVIdentity {
    /// Whether this firmware was made for the FIPS series alone: 4.4 and 4.5. Of firmware 5 the management application
    /// tells.
    public var isFIPSFirmware: Bool {
        guard isYubiKey, let version else { return false }
        return (Version(4, 4, 0)..<Version(4, 6, 0)).contains(version)
    }
}

extension PIVReport {
    /// The rules of FIPS 140 that the card does not follow as it is, in the order of ``FIPSRule``: as long as PIN, PUK
    /// and management key are those of a new card, a key of the FIPS series makes and takes no keys.
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
