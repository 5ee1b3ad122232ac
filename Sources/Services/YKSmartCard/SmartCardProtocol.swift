// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A transmission protocol of card and reader (SCARD_PROTOCOL_…).
public struct SmartCardProtocol: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32
    /// Wraps bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// T=0 (ISO 7816-3 §10).
    public static let t0 = SmartCardProtocol(rawValue: 1)
    /// T=1 (ISO 7816-3 §11).
    public static let t1 = SmartCardProtocol(rawValue: 2)
    /// Raw bytes.
    public static let raw = SmartCardProtocol(rawValue: 4)
    /// T=0 or T=1.
    public static let any: SmartCardProtocol = [.t0, .t1]

    /// The protocol to use with a card, T=1 before T=0; `nil` if none of these is offered.
    func active(for atr: [UInt8]) -> SmartCardProtocol? {
        let offered = ((try? ATR(decoding: atr))?.protocols).map { numbers in
            SmartCardProtocol(numbers.compactMap { $0 == 0 ? .t0 : $0 == 1 ? .t1 : nil })
        }
        let usable = intersection((offered ?? .any).union(.raw))
        return [.t1, .t0, .raw].first { usable.contains($0) }
    }
}
