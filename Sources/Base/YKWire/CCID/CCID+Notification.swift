// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// A message on a reader's interrupt endpoint (CCID 1.1 §6.3).
    public enum Notification: Hashable, Sendable {
        /// Cards were inserted or removed: two bits for each slot, the first in the low bits.
        case slots([UInt8])
        /// The reader has a hardware error.
        case hardware(slot: UInt8, sequence: UInt8, code: UInt8)
        /// Any other message.
        case other([UInt8])

        /// Decodes a notification; unknown ones are kept.
        public init(_ bytes: [UInt8]) {
            switch bytes.first {
            case 0x50? where bytes.count > 1: self = .slots(Array(bytes.dropFirst()))
            case 0x51? where bytes.count == 4: self = .hardware(slot: bytes[1], sequence: bytes[2], code: bytes[3])
            default: self = .other(bytes)
            }
        }

        /// Whether a card is in a slot, and whether that changed; `nil` when the notification does not say.
        public func state(of slot: UInt8) -> (hasCard: Bool, hasChanged: Bool)? {
            guard case .slots(let bits) = self, bits.indices.contains(Int(slot / 4)) else { return nil }
            let pair = bits[Int(slot / 4)] >> (2 * (slot % 4))
            return (pair & 1 != 0, pair & 2 != 0)
        }
    }
}
