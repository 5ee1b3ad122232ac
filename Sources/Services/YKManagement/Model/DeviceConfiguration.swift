// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
public import YKTransport
import YKWire

/// A change to a key's configuration; `nil` leaves a setting unchanged.
public struct DeviceConfiguration: Hashable, Sendable {
    /// The applications enabled over USB.
    public var usbEnabled: Capability?
    /// The applications enabled over NFC.
    public var nfcEnabled: Capability?
    /// The time after which the smart card is ejected, in whole seconds, at most 65535; zero for never.
    public var autoEjectTimeout: Duration?
    /// How long challenge-response waits for a touch, in whole seconds, at most 255; zero for the default of 15.
    public var challengeResponseTimeout: Duration?
    /// Device flags.
    public var flags: DeviceInfo.Flags?
    /// Disables NFC until the key has been powered over USB; firmware 5.7 and later.
    public var restrictsNFC = false

    /// Creates a configuration that changes nothing.
    public init() {}

    /// Throws if the key does not support this configuration; nothing is sent.
    package func check(_ info: DeviceInfo) throws(ManagementError) {
        let needed = restrictsNFC ? FirmwareVersion(5, 7, 0) : FirmwareVersion(5, 0, 0)
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

    /// Whether USB interfaces are added or removed, which requires the key to restart.
    func needsRestart(_ info: DeviceInfo) -> Bool {
        usbEnabled.map { $0.usbInterfaces != info.usb.enabled.usbInterfaces } ?? false
    }

    /// The settings that the key should report after the change but does not.
    func differences(from info: DeviceInfo) -> [String] {
        var wrong: [String] = []
        if let usbEnabled, usbEnabled != info.usb.enabled { wrong.append("the applications over USB") }
        if let nfcEnabled, nfcEnabled != info.nfc?.enabled { wrong.append("the applications over NFC") }
        if let autoEjectTimeout, autoEjectTimeout != info.autoEjectTimeout { wrong.append("the auto-eject timeout") }
        if let challengeResponseTimeout, challengeResponseTimeout != info.challengeResponseTimeout {
            wrong.append("the challenge-response timeout")
        }
        if let flags, flags != info.flags { wrong.append("the flags") }
        if restrictsNFC, !info.isNFCRestricted { wrong.append("the NFC restriction") }
        return wrong
    }
}

/// The result of a change.
public struct ConfigurationOutcome: Hashable, Sendable {
    /// What the key reports afterwards.
    public var info: DeviceInfo
    /// The settings that were written but are not reported yet; empty if all are.
    public var unconfirmed: [String]
    /// Whether the key restarts by itself, which takes seconds.
    public var restarts: Bool

    /// Creates the result of a change.
    public init(info: DeviceInfo, unconfirmed: [String] = [], restarts: Bool = false) {
        self.info = info
        self.unconfirmed = unconfirmed
        self.restarts = restarts
    }
}

/// The timeouts that are set along with a USB mode.
public struct ModeTimeouts: Hashable, Sendable {
    /// How long challenge-response waits for a touch, in whole seconds, at most 255; zero for the default.
    public var challengeResponse: Duration
    /// The time until a smart card that a touch inserts is ejected, in whole seconds, at most 65535, zero for never;
    /// `nil` if touches do not eject it.
    public var autoEject: Duration?

    /// Creates timeouts.
    public init(challengeResponse: Duration = .zero, autoEject: Duration? = nil) {
        self.challengeResponse = challengeResponse
        self.autoEject = autoEject
    }

    /// Mode with the bit 80 for ejection by touch, then the timeouts, the second in little-endian order.
    func encoded(_ mode: USBMode) -> [UInt8] {
        let seconds = UInt16(clamping: (autoEject ?? .zero).components.seconds)
        let code = mode.code | (autoEject == nil ? 0 : 0x80)
        let wait = UInt8(clamping: challengeResponse.components.seconds)
        return [code, wait, UInt8(truncatingIfNeeded: seconds), UInt8(seconds >> 8)]
    }
}

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

/// The 16-byte lock code that protects the configuration (Yubico management interface, tags 0A and 0B).
public struct LockCode: ~Copyable, Sendable {
    private let secret: Secret

    /// The length of a code in bytes.
    public static let length = 16

    /// Creates a code from 16 bytes, not all of them zero; throws `badLockCode` otherwise.
    public init(_ bytes: some Collection<UInt8>) throws(ManagementError) {
        guard bytes.count == Self.length, bytes.contains(where: { $0 != 0 }) else { throw .badLockCode }
        secret = Secret(bytes)
    }

    /// Parses 32 hexadecimal digits; throws `badLockCode` otherwise.
    public init(hex text: borrowing Secret) throws(ManagementError) {
        var digits = text.copyBytes()
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)) else { throw .badLockCode }
        defer { Secret.wipe(&bytes) }
        try self.init(bytes)
    }

    private init(clearing: Void) { secret = Secret([UInt8](repeating: 0, count: Self.length)) }

    /// Sixteen zero bytes, which remove the code.
    public static var cleared: LockCode { LockCode(clearing: ()) }

    /// Returns a random code.
    public static func random(_ source: any RandomSource) throws(ManagementError) -> LockCode {
        do { return try LockCode(try source.draw(length, secret: true)) } catch let error as LinkError {
            throw .card(.link(error))
        } catch { throw .badLockCode }
    }

    /// Whether it removes the code.
    var clears: Bool { secret.withBytes { $0.allSatisfy { $0 == 0 } } }

    /// The bytes, for the message that carries them.
    var bytes: [UInt8] { secret.copyBytes() }

    /// The 32 digits, for displaying a new code to the user who must keep it.
    public borrowing func revealed() -> String { Hex.encode(secret.copyBytes()) }
}
