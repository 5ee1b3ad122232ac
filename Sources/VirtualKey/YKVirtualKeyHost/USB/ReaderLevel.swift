// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
public import YKWire

/// What the card reader of a virtual key on the USB exchanges with the host (CCID 1.1 §5.1, dwFeatures).
public enum ReaderLevel: String, Hashable, Sendable, CaseIterable {
    /// APDUs of any length, as YubiKeys do.
    case extended
    /// APDUs of short length.
    case short
    /// Blocks of T=1: the host minds the protocol, and chooses the speed.
    case t1
    /// TPDUs of T=0: the host minds the protocol.
    case t0

    /// The class descriptor. At the lower two levels the host chooses the voltage, and the card needs 5 V.
    public var descriptor: CCID.Descriptor {
        let usual: CCID.Descriptor.Features = [
            .parametersByATR, .activation, .voltage, .clock, .speed, .selection,
        ]
        switch self {
        case .extended: return CCID.Descriptor(features: usual.union(.extendedAPDU))
        case .short: return CCID.Descriptor(features: usual.union(.shortAPDU), maxMessageLength: 271)
        case .t1:
            return CCID.Descriptor(voltages: 3, features: [.tpdu, .clock, .speed], maxMessageLength: 271)
        case .t0:
            return CCID.Descriptor(
                voltages: 3, protocols: 1, features: [.tpdu, .clock, .speed, .selection], maxMessageLength: 271)
        }
    }

    /// T=0, extra guard time 0, seven historical bytes.
    static let t0ATR: [UInt8] = [0x3B, 0x67, 0x00, 0x00] + Array("YubiKey".utf8)
}
