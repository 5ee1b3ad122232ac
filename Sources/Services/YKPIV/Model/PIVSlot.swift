// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// A slot for a private key (NIST SP 800-73-4 Part 1, Table 4b).
public struct PIVSlot: OpenSet {
    /// The key reference.
    public let rawValue: UInt8
    /// Wraps a key reference.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// 9A: PIV authentication.
    public static let authentication = PIVSlot(PIVProtocol.Slot.authentication)
    /// 9C: digital signature; by default the PIN is required for each signature.
    public static let signature = PIVSlot(PIVProtocol.Slot.signature)
    /// 9D: key management, for decryption.
    public static let keyManagement = PIVSlot(PIVProtocol.Slot.keyManagement)
    /// 9E: card authentication; by default without a PIN.
    public static let cardAuthentication = PIVSlot(PIVProtocol.Slot.cardAuthentication)
    /// F9: the key that attests other keys (Yubico).
    public static let attestation = PIVSlot(PIVProtocol.Slot.attestation)
    /// 9B: the management key; it holds no key pair.
    static let management = PIVSlot(PIVProtocol.Slot.management)

    /// 82 to 95: retired key management 1 to 20; `nil` for another number.
    public static func retired(_ number: Int) -> PIVSlot? {
        (1...20).contains(number) ? PIVSlot(PIVProtocol.Slot.retired.lowerBound + UInt8(number - 1)) : nil
    }

    /// The identifier (CKA_ID) of the slot's key in PKCS #11 modules, Yubico's and OpenSC's: 9a, 9c, 9d, 9e have 1 to 4, the
    /// retired slots 5 to 24; `nil` for the slots of other keys.
    public var pkcs11Identifier: UInt8? {
        if let number = Self.main.firstIndex(of: self) { return UInt8(number) + 1 }
        return retiredNumber.map { UInt8($0) + 4 }
    }

    /// The slot with an identifier in PKCS #11 modules.
    public init?(pkcs11Identifier identifier: UInt8) {
        guard let slot = (Self.main + Self.retired).first(where: { $0.pkcs11Identifier == identifier }) else {
            return nil
        }
        self = slot
    }

    /// The four slots of every card.
    public static let main: [PIVSlot] = [.authentication, .signature, .keyManagement, .cardAuthentication]
    /// The twenty retired slots.
    public static let retired: [PIVSlot] = PIVProtocol.Slot.retired.map { PIVSlot($0) }

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
        if let retiredNumber { return "retired\(retiredNumber)" }
        let name = self == .management ? nil : PIVProtocol.Slot.name(rawValue)
        return name.map { String($0.map { $0 == " " ? "-" : $0 }) } ?? description
    }

    /// 1 to 20 for a retired slot.
    public var retiredNumber: Int? { PIVProtocol.Slot.retiredNumber(rawValue).map(Int.init) }

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

    /// All known slots.
    package static let all = main + retired + [.attestation]
    /// The slots of every card, in words.
    package static let mainWords = main.map { $0.description }.listed()
    /// The retired slots, in words.
    package static let retiredWords = [retired.first, retired.last].compactMap { $0?.description }.listed(by: " to ")
}
