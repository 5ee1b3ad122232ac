// SPDX-License-Identifier: Apache-2.0

extension ATR {
    /// The interface bytes of a group, counted from 1; an absent byte is `nil` (ISO 7816-3 §8.2.3).
    public struct InterfaceGroup: Hashable, Sendable {
        /// The protocol of the group according to the preceding TD; `nil` for the first group.
        public var protocolNumber: UInt8?
        /// TA, TB and TC of the group.
        public var a, b, c: UInt8?

        /// Creates a group.
        public init(protocolNumber: UInt8? = nil, a: UInt8? = nil, b: UInt8? = nil, c: UInt8? = nil) {
            self.protocolNumber = protocolNumber
            self.a = a
            self.b = b
            self.c = c
        }
    }

    /// The groups of interface bytes in order.
    public var interfaceGroups: [InterfaceGroup] {
        var reader = ByteReader(bytes)
        guard (try? reader.byte()) != nil, var indicator = try? reader.byte() else { return [] }
        var groups: [InterfaceGroup] = []
        var number: UInt8?
        while true {
            var group = InterfaceGroup(protocolNumber: number)
            if indicator & 0x10 != 0 { group.a = try? reader.byte() }
            if indicator & 0x20 != 0 { group.b = try? reader.byte() }
            if indicator & 0x40 != 0 { group.c = try? reader.byte() }
            groups.append(group)
            guard indicator & 0x80 != 0, let next = try? reader.byte() else { return groups }
            (indicator, number) = (next, next & 0x0F)
        }
    }

    /// The first T=1 group from the third on: TA is the card's block size, TB the waiting integers, TC bit 0 selects
    /// CRC instead of LRC (ISO 7816-3 §11.4).
    public var t1: InterfaceGroup? { interfaceGroups.dropFirst(2).first { $0.protocolNumber == 1 } }
}

extension ATR {
    /// The initial speed of every card, as in TA1: F 372, D 1.
    public static let firstSpeed: UInt8 = 0x11

    /// The highest speed of the card, TA1.
    public var speed: UInt8 { interfaceGroups.first?.a ?? Self.firstSpeed }

    /// The protocol and speed of a card in specific mode, which uses them at once and offers no choice; `nil` for a
    /// card in negotiable mode (TA2, ISO 7816-3 §8.3).
    public var fixed: (protocolNumber: UInt8, speed: UInt8)? {
        guard let mode = interfaceGroups.dropFirst().first?.a else { return nil }
        return (mode & 0x0F, mode & 0x10 == 0 ? speed : Self.firstSpeed)
    }

    /// The duration of a bit in clock cycles at a speed, as the ratio of F to D; `nil` for a reserved speed (ISO 7816-3
    /// §8.3, tables 7 and 8).
    public static func cycles(of speed: UInt8) -> (f: Int, d: Int)? {
        let f = [372, 372, 558, 744, 1116, 1488, 1860, 0, 0, 512, 768, 1024, 1536, 2048, 0, 0][Int(speed >> 4)]
        let d = [0, 1, 2, 4, 8, 16, 32, 64, 12, 20, 0, 0, 0, 0, 0, 0][Int(speed & 0x0F)]
        return f > 0 && d > 0 ? (f, d) : nil
    }
}
