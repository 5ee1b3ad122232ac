// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// Applications of a key, as bits (Yubico management interface). An open set: unknown bits are kept.
public struct Capability: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Yubico OTP slots.
    public static let otp = Capability(rawValue: ManagementProtocol.Capability.otp)
    /// FIDO U2F.
    public static let u2f = Capability(rawValue: ManagementProtocol.Capability.u2f)
    /// The smart card interface as a whole.
    public static let ccid = Capability(rawValue: ManagementProtocol.Capability.ccid)
    /// OpenPGP card.
    public static let openPGP = Capability(rawValue: ManagementProtocol.Capability.openPGP)
    /// PIV.
    public static let piv = Capability(rawValue: ManagementProtocol.Capability.piv)
    /// OATH.
    public static let oath = Capability(rawValue: ManagementProtocol.Capability.oath)
    /// YubiHSM Auth.
    public static let hsmAuth = Capability(rawValue: ManagementProtocol.Capability.hsmAuth)
    /// FIDO2.
    public static let fido2 = Capability(rawValue: ManagementProtocol.Capability.fido2)
    /// Management over the smart card interface.
    public static let managementOverCCID = Capability(rawValue: ManagementProtocol.Capability.managementOverCCID)

    /// The applications in their usual order, with their names.
    public static let applications: [(capability: Capability, name: String)] = [
        (.otp, "Yubico OTP"), (.u2f, "FIDO U2F"), (.fido2, "FIDO2"), (.oath, "OATH"), (.piv, "PIV"),
        (.openPGP, "OpenPGP"), (.hsmAuth, "YubiHSM Auth"),
    ]

    /// The names of the applications among the bits.
    public var names: [String] { Self.applications.filter { contains($0.capability) }.map(\.name) }

    /// The names in one line.
    package var sentence: String { names.isEmpty ? "nothing" : names.listed() }

    /// Reads the bit map of the FIPS tags, which numbers the applications differently.
    init(fips: UInt32) {
        let order: [Capability] = [.fido2, .piv, .openPGP, .oath, .hsmAuth]
        self = order.enumerated().reduce(into: []) { result, entry in
            if fips & (1 << UInt32(entry.offset)) != 0 { result.insert(entry.element) }
        }
    }
}
