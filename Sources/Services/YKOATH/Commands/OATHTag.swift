// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The tags of the data objects (YKOATH, "Definitions").
enum OATHTag {
    static let name: TLV.Tag = 0x71
    static let nameList: TLV.Tag = 0x72
    static let key: TLV.Tag = 0x73
    static let challenge: TLV.Tag = 0x74
    static let fullResponse: TLV.Tag = 0x75
    static let truncatedResponse: TLV.Tag = 0x76
    static let noResponse: TLV.Tag = 0x77
    static let property: UInt8 = 0x78
    static let version: TLV.Tag = 0x79
    static let initialCounter: TLV.Tag = 0x7A
    static let touch: TLV.Tag = 0x7C
}
