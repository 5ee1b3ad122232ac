// SPDX-License-Identifier: Apache-2.0

import YKWire

extension DeviceConfiguration {
    /// The data objects of WRITE CONFIG (Yubico management interface), numbers with the most significant byte first.
    var objects: [TLV] {
        var objects: [TLV] = []
        if let usbEnabled { objects.append(TLV(0x03, Self.word(usbEnabled.rawValue))) }
        if let nfcEnabled { objects.append(TLV(0x0E, Self.word(nfcEnabled.rawValue))) }
        if let seconds = autoEjectTimeout?.components.seconds {
            objects.append(TLV(0x06, Self.word(UInt32(UInt16(clamping: seconds)))))
        }
        if let seconds = challengeResponseTimeout?.components.seconds {
            objects.append(TLV(0x07, [UInt8(clamping: seconds)]))
        }
        if let flags { objects.append(TLV(0x08, [flags.rawValue])) }
        if restrictsNFC { objects.append(TLV(0x17, [1])) }
        return objects
    }

    private static func word(_ number: UInt32) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}
