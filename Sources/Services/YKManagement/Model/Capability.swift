// SPDX-License-Identifier: Apache-2.0

/// Applications of a key, as bits (Yubico management interface). An open set: unknown bits are kept.
public struct Capability: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Yubico OTP slots.
    public static let otp = Capability(rawValue: 0x0001)
    /// FIDO U2F.
    public static let u2f = Capability(rawValue: 0x0002)
    /// The smart card interface as a whole.
    public static let ccid = Capability(rawValue: 0x0004)
    /// OpenPGP card.
    public static let openPGP = Capability(rawValue: 0x0008)
    /// PIV.
    public static let piv = Capability(rawValue: 0x0010)
    /// OATH.
    public static let oath = Capability(rawValue: 0x0020)
    /// YubiHSM Auth.
    public static let hsmAuth = Capability(rawValue: 0x0100)
    /// FIDO2.
    public static let fido2 = Capability(rawValue: 0x0200)
    /// Management over the smart card interface.
    public static let managementOverCCID = Capability(rawValue: 0x0400)

    /// The applications in their usual order, with their names.
    public static let applications: [(capability: Capability, name: String)] = [
        (.otp, "Yubico OTP"), (.u2f, "FIDO U2F"), (.fido2, "FIDO2"), (.oath, "OATH"), (.piv, "PIV"),
        (.openPGP, "OpenPGP"), (.hsmAuth, "YubiHSM Auth"),
    ]

    /// The names of the applications among the bits.
    public var names: [String] { Self.applications.filter { contains($0.capability) }.map(\.name) }

    /// Reads the bit map of the FIPS tags, which numbers the applications differently.
    init(fips: UInt32) {
        let order: [Capability] = [.fido2, .piv, .openPGP, .oath, .hsmAuth]
        self = order.enumerated().reduce(into: []) { result, entry in
            if fips & (1 << UInt32(entry.offset)) != 0 { result.insert(entry.element) }
        }
    }
}
