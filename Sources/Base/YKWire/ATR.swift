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
}
