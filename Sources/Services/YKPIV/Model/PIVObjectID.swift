// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The tag of a data object (NIST SP 800-73-4 Part 1, Table 3).
public struct PIVObjectID: OpenSet {
    /// The tag as a number of one to three bytes.
    public let rawValue: UInt32
    /// Wraps a tag.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Card capability container.
    public static let capability = PIVObjectID(0x5F_C107)
    /// Card holder unique identifier.
    public static let chuid = PIVObjectID(0x5F_C102)
    /// Certificate of 9A.
    public static let authenticationCertificate = PIVObjectID(0x5F_C105)
    /// Fingerprints of the holder.
    public static let fingerprints = PIVObjectID(0x5F_C103)
    /// Security object.
    public static let security = PIVObjectID(0x5F_C106)
    /// Facial image.
    public static let facialImage = PIVObjectID(0x5F_C108)
    /// Printed information; ykman stores a PIN-protected management key there.
    public static let printed = PIVObjectID(0x5F_C109)
    /// Certificate of 9C.
    public static let signatureCertificate = PIVObjectID(0x5F_C10A)
    /// Certificate of 9D.
    public static let keyManagementCertificate = PIVObjectID(0x5F_C10B)
    /// Certificate of 9E.
    public static let cardAuthenticationCertificate = PIVObjectID(0x5F_C101)
    /// Key history: the number of retired slots in use.
    public static let keyHistory = PIVObjectID(0x5F_C10C)
    /// Iris images.
    public static let iris = PIVObjectID(0x5F_C121)
    /// Discovery object: which PINs the card supports.
    public static let discovery = PIVObjectID(0x7E)
    /// ykman's administrative data about PIN, PUK and management key (pivman).
    public static let administration = PIVObjectID(0x5F_FF00)
    /// Certificate of F9.
    public static let attestationCertificate = PIVObjectID(0x5F_FF01)

    /// Parses hexadecimal digits, or a name such as `chuid`; `nil` for any other string.
    public init?(_ text: String) {
        let text = text.lowercased()
        if let entry = Self.names.first(where: { $0.value == text }) {
            self = entry.key
            return
        }
        let digits = text.hasPrefix("0x") ? String(text.dropFirst(2)) : text
        guard (2...6).contains(digits.count), let number = UInt32(digits, radix: 16), number > 0 else { return nil }
        rawValue = number
    }

    /// The bytes of the tag, most significant first.
    public var bytes: [UInt8] { TLV.Tag(rawValue: rawValue).bytes }
    /// The usual name; `nil` for unknown objects.
    public var name: String? { Self.names[self] }
    /// The name, otherwise the digits.
    public var description: String { name ?? Hex.encode(bytes) }

    /// The named objects, in the order of their tags.
    public static var named: [PIVObjectID] { names.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Whether cards require the PIN for reading the object (SP 800-73-4 Part 1, Table 2).
    package var isPINProtected: Bool { [.fingerprints, .facialImage, .printed, .iris].contains(self) }

    /// The tag that wraps the content: 53, or the tag itself for the discovery object.
    var wrapper: TLV.Tag { self == .discovery ? 0x7E : 0x53 }

    private static let names: [PIVObjectID: String] = [
        .capability: "ccc", .chuid: "chuid", .authenticationCertificate: "authentication-certificate",
        .fingerprints: "fingerprints", .security: "security", .facialImage: "facial", .printed: "printed",
        .signatureCertificate: "signature-certificate", .keyManagementCertificate: "key-management-certificate",
        .cardAuthenticationCertificate: "card-authentication-certificate", .keyHistory: "key-history", .iris: "iris",
        .discovery: "discovery", .administration: "administration",
        .attestationCertificate: "attestation-certificate",
    ]
}
