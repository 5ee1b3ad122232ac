// SPDX-License-Identifier: Apache-2.0

/// The instruction bytes (YKOATH, "Instructions").
enum OATHInstruction {
    static let put: UInt8 = 0x01
    static let delete: UInt8 = 0x02
    static let setCode: UInt8 = 0x03
    static let reset: UInt8 = 0x04
    static let rename: UInt8 = 0x05
    static let list: UInt8 = 0xA1
    static let calculate: UInt8 = 0xA2
    static let validate: UInt8 = 0xA3
    static let calculateAll: UInt8 = 0xA4
    static let sendRemaining: UInt8 = 0xA5
}
