// SPDX-License-Identifier: Apache-2.0

/// An answer to reset (ISO 7816-3 §8): the identification that a card sends when it is powered.
public struct ATR: Hashable, Sendable, CustomStringConvertible {
    /// All bytes as received.
    public let bytes: [UInt8]
    /// The transmission protocols offered (0 is T=0, 1 is T=1), in order, without duplicates.
    public let protocols: [UInt8]
    /// The historical bytes (ISO 7816-4 §12.1.1).
    public let historical: [UInt8]
    /// Whether the check byte is correct, or not required.
    public let isChecksumValid: Bool

    /// The bytes in hexadecimal.
    public var description: String { Hex.encode(bytes) }

    /// Decodes an answer to reset of 2 to 33 bytes. A wrong check byte is accepted; see ``isChecksumValid``.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= 33 else { throw WireError(.tooLarge, at: 33, "an ATR has at most 33 bytes") }
        var reader = ByteReader(bytes)
        let initial = try reader.byte("TS")
        guard initial == 0x3B || initial == 0x3F else {
            throw WireError(.malformed, at: 0, "TS is \(Hex.encode([initial])), expected 3b or 3f")
        }
        let format = try reader.byte("T0")
        let indicated = try Self.interfaceBytes(&reader, indicator: format)
        historical = try reader.bytes(Int(format & 0x0F), "historical bytes")
        let offered = indicated.filter { $0 != 15 }
        protocols = offered.isEmpty ? [0] : offered
        // 15 stands for global interface bytes; it also requires the check byte (ISO 7816-3 §8.2.5).
        if indicated.contains(where: { $0 != 0 }) {
            _ = try reader.byte("TCK")
            isChecksumValid = bytes.dropFirst().reduce(0, ^) == 0
        } else {
            isChecksumValid = true
        }
        try reader.finish("the ATR")
        self.bytes = bytes
    }

    private static func interfaceBytes(_ reader: inout ByteReader, indicator: UInt8) throws(WireError) -> [UInt8] {
        var offered: [UInt8] = []
        var indicator = indicator
        while true {
            for bit: UInt8 in [0x10, 0x20, 0x40] where indicator & bit != 0 {
                _ = try reader.byte("an interface byte")
            }
            guard indicator & 0x80 != 0 else { return offered }
            indicator = try reader.byte("TD")
            let number = indicator & 0x0F
            if !offered.contains(number) { offered.append(number) }
        }
    }

    /// The card capabilities of the historical bytes: tag 7, one to three bytes (ISO 7816-4 §12.1.1.9).
    public var cardCapabilities: [UInt8]? {
        guard let category = historical.first, category == 0x00 || category == 0x80 else { return nil }
        // In category 00 the last three bytes are a status indicator, not data objects.
        var reader = ByteReader(Array(historical.dropFirst().dropLast(category == 0x00 ? 3 : 0)))
        while let head = try? reader.byte() {
            guard let value = try? reader.bytes(Int(head & 0x0F)) else { return nil }
            if head >> 4 == 7 { return value }
        }
        return nil
    }

    /// Whether the card announces support for extended lengths (third capability byte, 0x40).
    public var saysExtendedLength: Bool {
        guard let capabilities = cardCapabilities, capabilities.count == 3 else { return false }
        return capabilities[2] & 0x40 != 0
    }

    /// Whether the answer has the form that a PC/SC reader synthesizes for a contactless card (PC/SC part 3 §3.1.3.2.3:
    /// 3B 8n 80 01 …).
    public var looksContactless: Bool {
        bytes.count >= 4 && bytes[0] == 0x3B && bytes[1] & 0xF0 == 0x80 && bytes[2] == 0x80 && bytes[3] == 0x01
    }

    /// The card that a contactless reader found, according to the answer that it synthesized; `nil` for a card with
    /// contacts.
    public var contactless: ContactlessCard? {
        guard looksContactless else { return nil }
        let application: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
        guard historical.count == 15, historical.starts(with: application) else { return .processor(historical) }
        return .storage(
            standard: .init(rawValue: historical[8]),
            name: .init(rawValue: UInt16(historical[9]) << 8 | UInt16(historical[10])))
    }

    /// The interface bytes of a group, counted from 1; an absent byte is `nil` (ISO 7816-3 §8.2.3).
    public struct InterfaceGroup: Hashable, Sendable {
        /// The protocol of the group according to the preceding TD; `nil` for the first group.
        public var protocolNumber: UInt8?
        /// TA, TB and TC of the group.
        public var a, b, c: UInt8?
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

/// A PPS request, which selects a card's protocol and speed right after a reset, or its response (ISO 7816-3 §9).
public struct ProtocolSelection: Hashable, Sendable {
    /// The transmission protocol, 0 to 14.
    public var protocolNumber: UInt8
    /// The speed, as in TA1; `nil` for the initial speed.
    public var speed: UInt8?

    /// Creates a request for a protocol and a speed.
    public init(protocolNumber: UInt8, speed: UInt8? = nil) {
        self.protocolNumber = protocolNumber & 0x0F
        self.speed = speed
    }

    /// Decodes a request or a response.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.byte("PPSS") == 0xFF else { throw WireError(.malformed, at: 0, "PPSS is not ff") }
        let indicator = try reader.byte("PPS0")
        protocolNumber = indicator & 0x0F
        speed = indicator & 0x10 != 0 ? try reader.byte("PPS1") : nil
        for bit: UInt8 in [0x20, 0x40] where indicator & bit != 0 { _ = try reader.byte("PPS2 or PPS3") }
        _ = try reader.byte("PCK")
        try reader.finish("PPS")
        guard bytes.reduce(0, ^) == 0 else {
            throw WireError(.malformed, at: bytes.count - 1, "the check byte of PPS is wrong")
        }
    }

    /// The encoded bytes; the last one makes the exclusive or of all bytes zero.
    public var encoded: [UInt8] {
        var bytes: [UInt8] = [0xFF, protocolNumber | (speed == nil ? 0 : 0x10)]
        if let speed { bytes.append(speed) }
        return bytes + [bytes.reduce(0, ^)]
    }

    /// Whether this response accepts a request; without a speed it accepts only the protocol (§9.3).
    public func agrees(to request: ProtocolSelection) -> Bool {
        protocolNumber == request.protocolNumber && (speed == nil || speed == request.speed)
    }
}
