// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
public import YKWire

/// The exchange level of a virtual USB key's card reader (CCID 1.1 §5.1, dwFeatures).
public enum ReaderLevel: String, Hashable, Sendable, CaseIterable {
    /// APDUs of any length, as on YubiKeys.
    case extended
    /// Short APDUs.
    case short
    /// T=1 blocks: the host handles the protocol and chooses the speed.
    case t1
    /// T=0 TPDUs: the host handles the protocol.
    case t0

    /// The class descriptor. At the two lower levels the host chooses the voltage, and the card needs 5 V.
    public var descriptor: CCID.Descriptor {
        let common: CCID.Descriptor.Features = [
            .parametersByATR, .activation, .voltage, .clock, .speed, .selection,
        ]
        switch self {
        case .extended: return CCID.Descriptor(features: common.union(.extendedAPDU))
        case .short: return CCID.Descriptor(features: common.union(.shortAPDU), maxMessageLength: 271)
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
