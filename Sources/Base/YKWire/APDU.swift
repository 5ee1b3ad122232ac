// SPDX-License-Identifier: Apache-2.0

/// A command APDU (ISO 7816-4 §5.1): a header, data, and the expected response length.
public struct APDU: Hashable, Sendable {
    /// The expected response length.
    ///
    /// The choice is always explicit because cards differ on what an absent Le means: some firmware (CanoKey 3.0) then
    /// returns nothing and keeps answering 61xx.
    public enum Le: Hashable, Sendable {
        /// No Le field.
        case none
        /// As many bytes as are available: Le is 00 (short) or 0000 (extended).
        case max
        /// This many bytes, 1 to 65535.
        case bytes(UInt16)
    }

    /// The encoding of length fields.
    public enum Form: Hashable, Sendable {
        /// One-byte lengths: at most 255 bytes of data, 256 in the response.
        case short
        /// Three-byte lengths: at most 65535 bytes of data, 65536 in the response.
        case extended
    }

    /// The class byte; 0x10 marks command chaining, 0x04 secure messaging.
    public var cla: UInt8
    /// The instruction byte.
    public var ins: UInt8
    /// The first parameter.
    public var p1: UInt8
    /// The second parameter.
    public var p2: UInt8
    /// The data field; may be empty.
    public var data: [UInt8]
    /// The expected response length.
    public var le: Le

    /// Creates a command; Le defaults to ``Le/max``.
    public init(
        cla: UInt8 = 0, ins: UInt8, p1: UInt8 = 0, p2: UInt8 = 0, data: [UInt8] = [], le: Le = .max
    ) {
        self.cla = cla
        self.ins = ins
        self.p1 = p1
        self.p2 = p2
        self.data = data
        self.le = le
    }

    /// Creates a command whose P1 and P2 are one number.
    package init(cla: UInt8 = 0, ins: UInt8, parameters: UInt16, data: [UInt8] = [], le: Le = .max) {
        self.init(
            cla: cla, ins: ins, p1: UInt8(parameters >> 8), p2: UInt8(truncatingIfNeeded: parameters), data: data,
            le: le)
    }

    /// P1 and P2 as one number.
    package var parameters: UInt16 { UInt16(p1) << 8 | UInt16(p2) }

    /// SELECT by name, first or only occurrence (ISO 7816-4 §11.2.2).
    public static func select(_ aid: AID) -> APDU {
        APDU(ins: 0xA4, p1: 0x04, p2: 0x00, data: aid.rawValue)
    }
}
