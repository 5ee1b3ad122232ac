// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The card holder unique identifier (object 5FC102, NIST SP 800-73-4 Part 1 §3.1.2), by which programs identify cards.
public struct CHUID: Hashable, Sendable {
    /// The holder's number as stored: 25 bytes, but in another form on cards whose issuer has none.
    public private(set) var fascnBytes: [UInt8]
    /// The global unique identifier of the card: 16 bytes.
    public var guid: [UInt8]
    /// The expiry date: year, month and day as eight digits.
    public var expiry: String
    /// The issuer's signature; empty on cards without an issuer.
    public var signature: [UInt8]
    /// Unrecognized objects, in order.
    public var others: [TLV]

    /// Creates an unsigned identifier of a non-federal issuer.
    public init(guid: [UInt8], expiry: String = "20300101", fascn: FASCN = .nonFederal) {
        fascnBytes = fascn.encoded
        self.guid = guid
        self.expiry = expiry
        signature = []
        others = []
    }

    /// The holder's number; `nil` if it is not a FASC-N, such as the zeros on some cards.
    public var fascn: FASCN? { try? FASCN(decoding: fascnBytes) }

    /// Reads the content of the object.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let objects = try TLV.list(bytes)
        fascnBytes = try objects.required(0x30, "FASC-N")
        guid = try objects.required(0x34, "GUID")
        guard guid.count == 16 else { throw WireError(.malformed, at: 0, "a GUID of \(guid.count) bytes") }
        let date = try objects.required(0x35, "expiry")
        guard date.count == 8, date.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw WireError(.malformed, at: 0, "an expiry that is not eight digits")
        }
        expiry = String(decoding: date, as: UTF8.self)
        signature = objects.value(0x3E) ?? []
        others = objects.filter { ![0x30, 0x34, 0x35, 0x3E, 0xFE].contains($0.tag.rawValue) }
    }

    /// The content of the object.
    public var encoded: [UInt8] {
        let known = [TLV(0x30, fascnBytes), TLV(0x34, guid), TLV(0x35, Array(expiry.utf8))]
        let first = others.filter { $0.tag.rawValue == 0xEE }
        let middle = others.filter { $0.tag.rawValue != 0xEE }
        let inner = (known + middle).sorted { $0.tag.rawValue < $1.tag.rawValue }
        return (first + inner + [TLV(0x3E, signature), TLV(0xFE, [])]).encoded
    }

    /// The GUID in the form of RFC 4122.
    public var guidText: String {
        let digits = Array(Hex.encode(guid))
        let ends = [8, 12, 16, 20, digits.count]
        let starts = [0] + ends.dropLast()
        return zip(starts, ends).map { String(digits[$0..<$1]) }.joined(separator: "-")
    }
}

/// The card capability container (object 5FC107, NIST SP 800-73-4 Part 1 §3.1.1).
public enum CardCapability {
    /// The content of the object with 14 bytes that identify the card.
    public static func encoded(identifier: [UInt8]) -> [UInt8] {
        let card: [UInt8] = [0xA0, 0x00, 0x00, 0x01, 0x16, 0xFF, 0x02] + identifier.prefix(14)
        let values: [(TLV.Tag, [UInt8])] = [
            (0xF0, card), (0xF1, [0x21]), (0xF2, [0x21]), (0xF3, []), (0xF4, [0x00]), (0xF5, [0x10]), (0xF6, []),
            (0xF7, []), (0xFA, []), (0xFB, []), (0xFC, []), (0xFD, []), (0xFE, []),
        ]
        return values.map { TLV($0, $1) }.encoded
    }

    /// Reads the card's 21-byte identifier from the content of the object.
    public static func identifier(decoding bytes: [UInt8]) throws(WireError) -> [UInt8] {
        let identifier = try TLV.list(bytes).required(0xF0, "card identifier")
        guard identifier.count == 21 else {
            throw WireError(.malformed, at: 0, "a card identifier of \(identifier.count) bytes")
        }
        return identifier
    }
}
