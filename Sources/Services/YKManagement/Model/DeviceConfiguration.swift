// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// What is to change on a key; what is `nil` stays as it is.
public struct DeviceConfiguration: Hashable, Sendable {
    /// What is switched on over USB.
    public var usbEnabled: Capability?
    /// What is switched on over NFC.
    public var nfcEnabled: Capability?
    /// Seconds after which the smart card is ejected; 0 for never.
    public var autoEjectTimeout: UInt16?
    /// Seconds that challenge-response waits for a touch; 0 for the usual 15.
    public var challengeResponseTimeout: UInt8?
    /// Device flags.
    public var flags: DeviceInfo.Flags?
    /// Switches NFC off until the key was once in a USB port; firmware 5.7 and later.
    public var restrictsNFC = false

    /// Changes nothing.
    public init() {}

    /// Throws why the key cannot be made to do this; nothing is sent.
    package func check(_ info: DeviceInfo) throws(ManagementError) {
        let needed = restrictsNFC ? Version(5, 7, 0) : Version(5, 0, 0)
        guard info.version >= needed || info.version.major == 0 else { throw .tooOld(has: info.version, needs: needed) }
        if usbEnabled != nil || nfcEnabled != nil, !info.resetBlocked.isEmpty { throw .resetBlocked(info.resetBlocked) }
        if let usbEnabled {
            let missing = usbEnabled.subtracting(info.usb.supported)
            guard missing.isEmpty else { throw .notThere(missing, over: .usb) }
            guard !usbEnabled.usbInterfaces.isEmpty else { throw .lastApplication }
        }
        if nfcEnabled != nil || restrictsNFC {
            guard let nfc = info.nfc else { throw .noNFC }
            let missing = nfcEnabled?.subtracting(nfc.supported) ?? []
            guard missing.isEmpty else { throw .notThere(missing, over: .nfc) }
        }
    }

    /// Whether USB interfaces come or go, which a key does when it starts anew.
    func needsRestart(_ info: DeviceInfo) -> Bool {
        usbEnabled.map { $0.usbInterfaces != info.usb.enabled.usbInterfaces } ?? false
    }

    /// What the key does not say of itself though it should by now.
    func differences(from info: DeviceInfo) -> [String] {
        var wrong: [String] = []
        if let usbEnabled, usbEnabled != info.usb.enabled { wrong.append("the applications over USB") }
        if let nfcEnabled, nfcEnabled != info.nfc?.enabled { wrong.append("the applications over NFC") }
        if let autoEjectTimeout, autoEjectTimeout != info.autoEjectTimeout { wrong.append("the auto-eject time-out") }
        if let challengeResponseTimeout, UInt16(challengeResponseTimeout) != info.challengeResponseTimeout {
            wrong.append("the challenge-response time-out")
        }
        if let flags, flags != info.flags { wrong.append("the flags") }
        if restrictsNFC, !info.isNFCRestricted { wrong.append("the restriction of NFC") }
        return wrong
    }
}

/// What came of a change.
public struct ConfigurationOutcome: Hashable, Sendable {
    /// What the key says of itself afterwards.
    public var info: DeviceInfo
    /// What was written, but is not yet what the key says; empty when all is.
    public var unconfirmed: [String]
    /// Whether the key starts anew by itself, and is there again within seconds.
    public var restarts: Bool

    /// What came of a change that has been made.
    public init(info: DeviceInfo, unconfirmed: [String] = [], restarts: Bool = false) {
        self.info = info
        self.unconfirmed = unconfirmed
        self.restarts = restarts
    }
}

/// The time-outs that go with a USB mode.
public struct ModeTimeouts: Hashable, Sendable {
    /// Seconds that challenge-response waits for a touch; 0 for the usual.
    public var challengeResponse: UInt8
    /// Seconds until a smart card that a touch inserts is ejected, 0 for never; `nil` when touches do not eject it.
    public var autoEject: UInt16?

    /// Makes time-outs.
    public init(challengeResponse: UInt8 = 0, autoEject: UInt16? = nil) {
        self.challengeResponse = challengeResponse
        self.autoEject = autoEject
    }

    /// Mode with the bit 80 for ejection by touch, then the time-outs, the second with its least significant byte first.
    func encoded(_ mode: USBMode) -> [UInt8] {
        let seconds = autoEject ?? 0
        let code = mode.code | (autoEject == nil ? 0 : 0x80)
        return [code, challengeResponse, UInt8(truncatingIfNeeded: seconds), UInt8(seconds >> 8)]
    }
}
