// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A slot for a private key (NIST SP 800-73-4 Part 1, Table 4b). An open set.
public struct PIVSlot: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The key reference.
    public let rawValue: UInt8
    /// Wraps a key reference.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    private init(_ rawValue: UInt8) { self.rawValue = rawValue }

    /// 9A: PIV authentication.
    public static let authentication = PIVSlot(0x9A)
    /// 9C: digital signature; by default the PIN is required for each signature.
    public static let signature = PIVSlot(0x9C)
    /// 9D: key management, for decryption.
    public static let keyManagement = PIVSlot(0x9D)
    /// 9E: card authentication; by default without a PIN.
    public static let cardAuthentication = PIVSlot(0x9E)
    /// F9: the key that attests other keys (Yubico).
    public static let attestation = PIVSlot(0xF9)
    /// 9B: the management key; it holds no key pair.
    static let management = PIVSlot(0x9B)

    /// 82 to 95: retired key management 1 to 20; `nil` for another number.
    public static func retired(_ number: Int) -> PIVSlot? {
        (1...20).contains(number) ? PIVSlot(0x81 + UInt8(number)) : nil
    }

    /// The four slots of every card.
    public static let main: [PIVSlot] = [.authentication, .signature, .keyManagement, .cardAuthentication]
    /// The twenty retired slots.
    public static let retired: [PIVSlot] = (0x82...0x95).map { PIVSlot($0) }

    /// Parses the two digits (`9a`), or a name (`authentication`, `signature`, `key-management`,
    /// `card-authentication`, `attestation`, `retired1` …); `nil` for any other string.
    public init?(_ text: String) {
        let text = text.lowercased()
        if let slot = Self.all.first(where: { $0.description == text || $0.name == text }) {
            self = slot
            return
        }
        guard text.hasPrefix("0x"), let slot = PIVSlot(String(text.dropFirst(2))) else { return nil }
        self = slot
    }

    /// The name on the command line; the digits for unnamed slots.
    public var name: String {
        switch self {
        case .authentication: "authentication"
        case .signature: "signature"
        case .keyManagement: "key-management"
        case .cardAuthentication: "card-authentication"
        case .attestation: "attestation"
        case let slot: slot.retiredNumber.map { "retired\($0)" } ?? slot.description
        }
    }

    /// 1 to 20 for a retired slot.
    public var retiredNumber: Int? { (0x82...0x95).contains(rawValue) ? Int(rawValue) - 0x81 : nil }

    /// The object that holds the slot's certificate; `nil` for an unknown slot.
    public var certificateObject: PIVObjectID? {
        switch self {
        case .authentication: .authenticationCertificate
        case .signature: .signatureCertificate
        case .keyManagement: .keyManagementCertificate
        case .cardAuthentication: .cardAuthenticationCertificate
        case .attestation: .attestationCertificate
        case let slot: slot.retiredNumber.map { PIVObjectID(rawValue: 0x5F_C10C + UInt32($0)) }
        }
    }

    /// The two digits.
    public var description: String { Hex.encode([rawValue]) }

    private static let all = main + retired + [.attestation]
}
