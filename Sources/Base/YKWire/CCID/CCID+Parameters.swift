// SPDX-License-Identifier: Apache-2.0

extension CCID {
    /// How reader and card talk to each other (CCID 1.1 §6.1.7, §6.2.3).
    public enum Parameters: Hashable, Sendable {
        /// T=0: speed (as TA1), convention, extra guard time, waiting integer (as TC2), when the clock may stop.
        case t0(speed: UInt8, convention: UInt8, guardTime: UInt8, waiting: UInt8, clockStop: UInt8)
        /// T=1: the same, with both waiting integers (as TB3) in one byte, the size of blocks that the card takes (IFSC),
        /// and the node address.
        case t1(T1)

        /// The parameters of T=1.
        public struct T1: Hashable, Sendable {
            /// Speed, as TA1.
            public var speed: UInt8
            /// Bit 0: CRC instead of LRC; bit 1: inverse convention; bit 4 is set.
            public var convention: UInt8
            /// Extra guard time, as TC1.
            public var guardTime: UInt8
            /// Waiting integers, as TB3.
            public var waiting: UInt8
            /// When the clock may stop.
            public var clockStop: UInt8
            /// The size of blocks that the card takes.
            public var blockSize: UInt8
            /// The node address.
            public var node: UInt8

            /// Makes parameters.
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

        /// The number of the protocol.
        public var protocolNumber: UInt8 { if case .t0 = self { 0 } else { 1 } }

        /// Reads the parameters of a protocol: five bytes for T=0, seven for T=1.
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

        /// The parameters as bytes.
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
