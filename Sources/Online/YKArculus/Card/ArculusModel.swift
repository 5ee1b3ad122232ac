// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A model of Arculus card, by its AAGUID.
public struct ArculusModel: OpenSet {
    /// The AAGUID, 16 bytes.
    public let rawValue: [UInt8]
    /// Wraps an AAGUID.
    public init(rawValue: [UInt8]) { self.rawValue = rawValue }

    /// 9d3df6ba-282f-11ed-a261-0242ac120002.
    public static let keyCard = ArculusModel(rawValue: [
        0x9D, 0x3D, 0xF6, 0xBA, 0x28, 0x2F, 0x11, 0xED, 0xA2, 0x61, 0x02, 0x42, 0xAC, 0x12, 0x00, 0x02,
    ])
    /// 3f59672f-20aa-4afe-b6f4-7e5e916b6d98.
    public static let keyCardP71 = ArculusModel(rawValue: [
        0x3F, 0x59, 0x67, 0x2F, 0x20, 0xAA, 0x4A, 0xFE, 0xB6, 0xF4, 0x7E, 0x5E, 0x91, 0x6B, 0x6D, 0x98,
    ])

    /// Its name in the public lists; `nil` for other or unknown models.
    public var name: String? {
        switch self {
        case .keyCard: "Arculus FIDO2/U2F Key Card"
        case .keyCardP71: "Arculus FIDO 2.1 Key Card [P71]"
        default: nil
        }
    }
}
