// SPDX-License-Identifier: Apache-2.0

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
