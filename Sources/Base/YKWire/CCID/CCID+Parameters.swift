// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// The protocol parameters between reader and card (CCID 1.1 §6.1.7, §6.2.3).
    public enum Parameters: Hashable, Sendable {
        /// T=0: speed (as TA1), convention, extra guard time, waiting integer (as TC2), clock stop support.
        case t0(speed: UInt8, convention: UInt8, guardTime: UInt8, waiting: UInt8, clockStop: UInt8)
        /// T=1: the same, with both waiting integers (as TB3) in one byte, the card's block size (IFSC), and the node
        /// address.
        case t1(T1)

        /// The parameters of T=1.
        public struct T1: Hashable, Sendable {
            /// The speed, as in TA1.
            public var speed: UInt8
            /// Bit 0: CRC instead of LRC; bit 1: inverse convention; bit 4 is set.
            public var convention: UInt8
            /// The extra guard time, as in TC1.
            public var guardTime: UInt8
            /// The waiting integers, as in TB3.
            public var waiting: UInt8
            /// The clock stop support.
            public var clockStop: UInt8
            /// The card's block size (IFSC).
            public var blockSize: UInt8
            /// The node address.
            public var node: UInt8

            /// Creates parameters.
            public init(
                speed: UInt8 = 0x11, convention: UInt8 = 0x10, guardTime: UInt8 = 0, waiting: UInt8 = 0x4D,
                clockStop: UInt8 = 0, blockSize: UInt8 = 0x20, node: UInt8 = 0
            ) {
                self.speed = speed
                self.convention = convention
                self.guardTime = guardTime
                self.waiting = waiting
                self.clockStop = clockStop
                self.blockSize = blockSize
                self.node = node
            }
        }

        /// The protocol number.
        public var protocolNumber: UInt8 { if case .t0 = self { 0 } else { 1 } }

        /// Decodes the parameters of a protocol: five bytes for T=0, seven for T=1.
        public init(_ number: UInt8, decoding bytes: [UInt8]) throws(WireError) {
            var reader = ByteReader(bytes)
            let (speed, convention) = (try reader.byte("the speed"), try reader.byte("the convention"))
            let (guardTime, waiting) = (try reader.byte("the guard time"), try reader.byte("the waiting time"))
            let clockStop = try reader.byte("the clock")
            switch number {
            case 0:
                self = .t0(
                    speed: speed, convention: convention, guardTime: guardTime, waiting: waiting, clockStop: clockStop)
            case 1:
                let (blockSize, node) = (try reader.byte("the size of blocks"), try reader.byte("the node"))
                self = .t1(
                    T1(
                        speed: speed, convention: convention, guardTime: guardTime, waiting: waiting,
                        clockStop: clockStop, blockSize: blockSize, node: node))
            default: throw WireError(.malformed, at: 0, "parameters of protocol \(number), expected 0 or 1")
            }
            try reader.finish("the parameters")
        }

        /// The encoded parameters.
        public var encoded: [UInt8] {
            switch self {
            case .t0(let speed, let convention, let guardTime, let waiting, let clockStop):
                [speed, convention, guardTime, waiting, clockStop]
            case .t1(let all):
                [
                    all.speed, all.convention, all.guardTime, all.waiting, all.clockStop, all.blockSize, all.node,
                ]
            }
        }
    }
}
