// SPDX-License-Identifier: Apache-2.0

/// A command APDU (ISO 7816-4 §5.1): a header, data, and how many bytes are expected back.
public struct APDU: Hashable, Sendable {
    /// How many response bytes the host asks for.
    ///
    /// There is always an explicit choice, because cards differ on what an absent Le means: some firmware
    /// (CanoKey 3.0) then returns nothing and reports 61xx for ever.
    public enum Le: Hashable, Sendable {
        /// No Le field.
        case none
        /// As many as there are: Le is 00 (short) or 0000 (extended).
        case max
        /// Exactly this many, 1 to 65535.
        case bytes(UInt16)
    }

    /// How length fields are written.
    public enum Form: Hashable, Sendable {
        /// One-byte lengths: at most 255 bytes of data, 256 back.
        case short
        /// Three-byte lengths: at most 65535 bytes of data, 65536 back.
        case extended
    }

    /// The class byte; 0x10 marks a command that continues, 0x04 secure messaging.
    public var cla: UInt8
    /// The instruction.
    public var ins: UInt8
    /// The first parameter.
    public var p1: UInt8
    /// The second parameter.
    public var p2: UInt8
    /// The data field, empty when there is none.
    public var data: [UInt8]
    /// How many bytes are expected back.
    public var le: Le

    /// Makes a command; Le is written as "as many as there are" unless told otherwise.
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

    /// SELECT by name, first or only occurrence (ISO 7816-4 §11.2.2).
    public static func select(_ aid: AID) -> APDU {
        APDU(ins: 0xA4, p1: 0x04, p2: 0x00, data: aid.rawValue)
    }
}
