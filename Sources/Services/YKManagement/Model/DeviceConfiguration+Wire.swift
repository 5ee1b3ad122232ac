// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

extension DeviceConfiguration {
    /// The data objects of WRITE CONFIG (Yubico management interface), numbers with the most significant byte first.
    var objects: [TLV] {
        var objects: [TLV] = []
        if let usbEnabled { objects.append(TLV(ManagementProtocol.Tag.usbEnabled, Self.word(usbEnabled.rawValue))) }
        if let nfcEnabled { objects.append(TLV(ManagementProtocol.Tag.nfcEnabled, Self.word(nfcEnabled.rawValue))) }
        if let seconds = autoEjectTimeout?.components.seconds {
            objects.append(TLV(ManagementProtocol.Tag.autoEject, Self.word(UInt32(UInt16(clamping: seconds)))))
        }
        if let seconds = challengeResponseTimeout?.components.seconds {
            objects.append(TLV(ManagementProtocol.Tag.challengeResponseTimeout, [UInt8(clamping: seconds)]))
        }
        if let flags { objects.append(TLV(ManagementProtocol.Tag.flags, [flags.rawValue])) }
        if restrictsNFC { objects.append(TLV(ManagementProtocol.Tag.nfcRestricted, [1])) }
        return objects
    }

    private static func word(_ number: UInt32) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }
}
