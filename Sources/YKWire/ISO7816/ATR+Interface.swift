// SPDX-License-Identifier: Apache-2.0

extension ATR {
    /// The interface bytes of a group, the first is 1; a byte that is not there is `nil` (ISO 7816-3 §8.2.3).
    public struct InterfaceGroup: Hashable, Sendable {
        /// The protocol that the group is for, as the TD before it says; `nil` for the first.
        public var protocolNumber: UInt8?
        /// TA, TB and TC of the group.
        public var a, b, c: UInt8?

        /// Makes a group.
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

    /// The first group from the third on that is for T=1: TA is the size of blocks that the card takes, TB the waiting
    /// integers, TC bit 0 says CRC instead of LRC (ISO 7816-3 §11.4).
    public var t1: InterfaceGroup? { interfaceGroups.dropFirst(2).first { $0.protocolNumber == 1 } }
}
