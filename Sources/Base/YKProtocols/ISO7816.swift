// SPDX-License-Identifier: Apache-2.0

/// Instructions of ISO 7816-4 with the same meaning in every application.
package enum ISO7816 {
    package static let verify: UInt8 = 0x20
    package static let changeReferenceData: UInt8 = 0x24
    package static let resetRetryCounter: UInt8 = 0x2C
    package static let getChallenge: UInt8 = 0x84
    package static let select: UInt8 = 0xA4
    package static let readBinary: UInt8 = 0xB0
    package static let readBinaryExtended: UInt8 = 0xB1
    package static let getResponse: UInt8 = 0xC0
    package static let getData: UInt8 = 0xCA
    package static let getDataExtended: UInt8 = 0xCB
    package static let updateBinary: UInt8 = 0xD6

    /// Instructions whose whole data field is a PIN or password, in any application.
    package static let secretInstructions: Set<UInt8> = [verify, changeReferenceData, resetRetryCounter]
}
