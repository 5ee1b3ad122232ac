// SPDX-License-Identifier: Apache-2.0

/// A card found by a contactless reader.
public enum ContactlessCard: Hashable, Sendable, CustomStringConvertible {
    /// A card that processes APDUs (ISO 14443-4), with its historical bytes or application data (PC/SC part 3
    /// §3.1.3.2.3.1).
    case processor([UInt8])
    /// A storage card (PC/SC part 3 §3.1.3.2.3.2).
    case storage(standard: Standard, name: Name)

    /// The standard of a storage card.
    public struct Standard: OpenSet {
        /// The code (PC/SC part 3 supplement, table 1).
        public let rawValue: UInt8
        /// Wraps a code.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The standard's name; `nil` for an unknown code.
        public var name: String? { Self.names[rawValue] }

        private static let names: [UInt8: String] = [
            0x01: "ISO 14443 A, part 1", 0x02: "ISO 14443 A, part 2", 0x03: "ISO 14443 A, part 3",
            0x05: "ISO 14443 B, part 1", 0x06: "ISO 14443 B, part 2", 0x07: "ISO 14443 B, part 3",
            0x09: "ISO 15693, part 1", 0x0A: "ISO 15693, part 2", 0x0B: "ISO 15693, part 3", 0x0C: "ISO 15693, part 4",
            0x11: "FeliCa",
        ]
    }

    /// The name of a storage card.
    public struct Name: OpenSet {
        /// The code (PC/SC part 3 supplement, table 2).
        public let rawValue: UInt16
        /// Wraps a code.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The card's name; `nil` for an unknown code.
        public var name: String? { Self.names[rawValue] }

        private static let names: [UInt16: String] = [
            0x0001: "MIFARE Classic 1K", 0x0002: "MIFARE Classic 4K", 0x0003: "MIFARE Ultralight",
            0x0026: "MIFARE Mini",
            0x0036: "MIFARE Plus SL1 2K", 0x0037: "MIFARE Plus SL1 4K", 0x0038: "MIFARE Plus SL2 2K",
            0x0039: "MIFARE Plus SL2 4K", 0x003A: "MIFARE Ultralight C", 0x003B: "FeliCa",
            0xF004: "Topaz or Jewel", 0xF011: "FeliCa 212K", 0xF012: "FeliCa 424K",
        ]
    }

    /// The card in a few words.
    public var description: String {
        switch self {
        case .processor: "contactless card (ISO 14443-4)"
        case .storage(let standard, let name):
            "storage card (\(name.name ?? "name \(name.rawValue)"), \(standard.name ?? "standard \(standard.rawValue)"))"
        }
    }
}
