// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The instruction bytes (NIST SP 800-73-4 Part 2 §3; from F6 on Yubico's).
enum PIVInstruction {
    static let verify: UInt8 = 0x20
    static let changeReference: UInt8 = 0x24
    static let resetRetry: UInt8 = 0x2C
    static let generate: UInt8 = 0x47
    static let authenticate: UInt8 = 0x87
    static let getData: UInt8 = 0xCB
    static let putData: UInt8 = 0xDB
    static let moveKey: UInt8 = 0xF6
    static let getMetadata: UInt8 = 0xF7
    static let getSerial: UInt8 = 0xF8
    static let attest: UInt8 = 0xF9
    static let setRetries: UInt8 = 0xFA
    static let reset: UInt8 = 0xFB
    static let getVersion: UInt8 = 0xFD
    static let importKey: UInt8 = 0xFE
    static let setManagementKey: UInt8 = 0xFF
}

/// The tags of data objects (NIST SP 800-73-4 Part 2).
enum PIVTag {
    static let objectID: TLV.Tag = 0x5C
    static let dynamic: TLV.Tag = 0x7C
    static let witness: TLV.Tag = 0x80
    static let challenge: TLV.Tag = 0x81
    static let response: TLV.Tag = 0x82
    static let exponentiation: TLV.Tag = 0x85
    static let template: TLV.Tag = 0xAC
    static let algorithm: TLV.Tag = 0x80
    static let pinPolicy: TLV.Tag = 0xAA
    static let touchPolicy: TLV.Tag = 0xAB
    static let publicKey: TLV.Tag = 0x7F49
}
