// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
import YKWire

/// A transport for management: the same operations over a smart card, FIDO HID and OTP HID.
package protocol ManagementCarrier: AnyObject {
    /// The firmware version, as far as known before device information is read.
    var version: FirmwareVersion { get }
    /// The number of exchanges.
    var exchanges: Int { get }

    /// Reads one raw page of device information: a length byte, then data objects.
    func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8]
    /// Writes a configuration: a length byte, then data objects.
    func write(_ configuration: [UInt8]) throws(ManagementError)
    /// Sets the USB mode of a key before firmware 5: mode, seconds for challenge-response, seconds until ejection (two
    /// bytes, least significant first).
    func setMode(_ mode: [UInt8]) throws(ManagementError)
    /// Resets the whole key.
    func reset() throws(ManagementError)
    /// The known properties of a key that has no device information; `skipping` is called with the error of a question
    /// without which the others are still asked.
    func olderKey(
        _ product: USBProduct?, _ skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo
    /// Lets other programs use the key until the next operation.
    func rest()
    /// Closes the connection to the key.
    func close()
}

/// Management over a smart card: the management application, selected on a channel.
package final class CardCarrier: ManagementCarrier {
    private let channel: CardChannel
    package let version: FirmwareVersion

    /// Selects the application. A NEO over NFC has none; there the OTP application reports the version. Some CanoKey
    /// versions (canokey-core, meta.c) have an imitation that reports a YubiKey 5.5.5 and cannot be written to: it is
    /// treated as absent.
    package init(_ channel: CardChannel) throws(ManagementError) {
        self.channel = channel
        version = try Self.version(of: channel)
    }

    private static func version(of channel: CardChannel) throws(ManagementError) -> FirmwareVersion {
        guard !channel.identity.isCanoKey else { throw .card(.appletMissing(.management)) }
        let reply: [UInt8]
        do { reply = try channel.select(.management) } catch {
            guard case .appletMissing = error, channel.identity.isYubiKey, let status = try? channel.select(.otp),
                status.first == 3, let version = try? FirmwareVersion(bytes: Array(status.prefix(3)))
            else { throw .card(error) }
            return version
        }
        return try lift({ ManagementError.malformed($0, during: "SELECT management") }) { () throws(WireError) in
            try FirmwareVersion(in: reply)
        }
    }

    package var exchanges: Int { channel.exchanges }
    package func rest() { channel.rest() }
    package func close() { channel.close() }

    package func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8] {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(ReadConfig(page: page)) }
    }

    package func write(_ configuration: [UInt8]) throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(WriteConfig(bytes: configuration)) }
    }

    /// On a NEO this is a command of the OTP application (ykman 5.9.2).
    package func setMode(_ mode: [UInt8]) throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in
            if version.major < 4 {
                try channel.leaveManagement(of: version)
                _ = try channel.select(.otp)
            }
            try channel.send(SetMode(bytes: mode, isInOTP: version.major < 4))
        }
    }

    package func reset() throws(ManagementError) {
        try lift(ManagementError.card) { () throws(CardError) in try channel.send(ResetDevice()) }
    }

    package func olderKey(
        _ product: USBProduct?, _ skipping: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        try lift(ManagementError.card) { () throws(CardError) in try channel.leaveManagement(of: version) }
        return try OlderKey.info(channel, version: version) { error throws(ManagementError) in
            guard case .link(.replay) = error else { throw .card(error) }
            try skipping(.card(error))
        }
    }
}

/// Management over FIDO HID: vendor commands of CTAPHID (Yubico management interface).
package final class FIDOCarrier: ManagementCarrier {
    private let link: any FIDOLink
    private let runtime: ServiceRuntime?
    package let version: FirmwareVersion

    /// Takes over an open link; sends nothing. Before the 4 series the version in the INIT reply is not the firmware's:
    /// such a key is treated as 3.0.0 (ykman 5.9.2).
    package init(_ link: any FIDOLink, _ runtime: ServiceRuntime? = nil) {
        self.link = link
        self.runtime = runtime
        let reported = link.profile.deviceVersion ?? FirmwareVersion(0, 0, 0)
        let isPreview = reported == FirmwareVersion(0, 0, 1) || reported.major == 0 && link.profile.hasCTAP2
        version = reported.major >= 4 || isPreview ? reported : FirmwareVersion(3, 0, 0)
    }

    package private(set) var exchanges = 0
    package func rest() {
        link.rest()
        runtime?.rest()
    }

    package func close() {
        link.close()
        runtime?.close()
    }

    package func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8] {
        try call(.readConfig, [page], during: ReadConfig.name)
    }

    package func write(_ configuration: [UInt8]) throws(ManagementError) {
        _ = try call(.writeConfig, configuration, during: WriteConfig.name)
    }

    package func setMode(_ mode: [UInt8]) throws(ManagementError) {
        _ = try call(.deviceConfig, mode, during: SetMode.name)
    }

    package func reset() throws(ManagementError) { throw .notOverThisLink(ResetDevice.name) }

    /// The properties known from the USB product number; this interface reports nothing more.
    package func olderKey(_ product: USBProduct?, _: (ManagementError) throws(ManagementError) -> Void) -> DeviceInfo {
        var info = DeviceInfo(version: version, usb: .u2f)
        info.formFactor = .usbAKeychain
        info.isSynthesized = true
        product?.complete(&info)
        return info
    }

    private func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], during name: String
    ) throws(ManagementError) -> [UInt8] {
        let deadline = link.environment.deadline()
        func callNow() throws(FIDOLinkError) -> [UInt8] {
            exchanges += 1
            return try link.call(command, payload, deadline: deadline, keepalive: { _ in })
        }
        do throws(FIDOLinkError) {
            guard let runtime else { return try callNow() }
            return try runtime.perform(FIDOLinkError.device, cause: \.link, callNow)
        } catch {
            throw .fido(error, during: name)
        }
    }
}

extension CTAPHID.Command {
    /// SET MODE of a key from before firmware 5.
    fileprivate static let deviceConfig = CTAPHID.Command(rawValue: FIDOProtocol.Vendor.setMode)
    /// READ CONFIG.
    fileprivate static let readConfig = CTAPHID.Command(rawValue: FIDOProtocol.Vendor.readConfig)
    /// WRITE CONFIG.
    fileprivate static let writeConfig = CTAPHID.Command(rawValue: FIDOProtocol.Vendor.writeConfig)
}

/// Management over OTP HID: slot commands of the OTP application (Yubico management interface).
package final class KeyboardCarrier: ManagementCarrier {
    private let link: any OTPLink
    private let runtime: ServiceRuntime?
    package let version: FirmwareVersion
    package private(set) var exchanges = 1

    /// Reads the application's status, which contains the version.
    package init(_ link: any OTPLink, _ runtime: ServiceRuntime? = nil) throws(ManagementError) {
        self.link = link
        self.runtime = runtime
        do { version = try link.status(deadline: link.environment.deadline()).version } catch {
            throw .otp(error, during: "STATUS")
        }
    }

    package func rest() {
        link.rest()
        runtime?.rest()
    }

    package func close() {
        link.close()
        runtime?.close()
    }

    package func readPage(_ page: UInt8) throws(ManagementError) -> [UInt8] {
        try query(.deviceInfo, [page], .counted, during: ReadConfig.name)
    }

    package func write(_ configuration: [UInt8]) throws(ManagementError) {
        try write(.setDeviceInfo, configuration, during: WriteConfig.name)
    }

    /// The programming sequence of a key without programmed slots does not advance (ykman 5.9.2).
    package func setMode(_ mode: [UInt8]) throws(ManagementError) {
        let before = try? link.status(deadline: link.environment.deadline())
        do { try write(.deviceMode, mode, during: SetMode.name) } catch {
            guard error.isRefusal, before?.sequence == 0 else { throw error }
        }
    }

    package func reset() throws(ManagementError) { throw .notOverThisLink(ResetDevice.name) }

    /// The properties known from the USB product number, and the serial number, if it is readable.
    package func olderKey(
        _ product: USBProduct?, _: (ManagementError) throws(ManagementError) -> Void
    ) throws(ManagementError) -> DeviceInfo {
        var info = DeviceInfo(version: version, usb: .otp)
        info.isSynthesized = true
        product?.complete(&info)
        do {
            let bytes = try query(.serial, [], .bytes(4), during: "SERIAL")
            let serial = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            info.serial = serial == 0 ? nil : serial
        } catch { guard error.isRefusal else { throw error } }
        return info
    }

    private func query(
        _ command: OTPCommand, _ payload: [UInt8], _ size: OTPReplySize, during name: String
    ) throws(ManagementError) -> [UInt8] {
        try perform(name) { deadline throws(OTPLinkError) in
            try link.query(command, payload, reply: size, deadline: deadline, waiting: {})
        }
    }

    private func write(_ command: OTPCommand, _ payload: [UInt8], during name: String) throws(ManagementError) {
        _ = try perform(name) { deadline throws(OTPLinkError) in
            try link.write(command, payload, deadline: deadline)
        }
    }

    private func perform<Value>(
        _ name: String, _ body: (Deadline) throws(OTPLinkError) -> Value
    ) throws(ManagementError) -> Value {
        exchanges += 1
        let deadline = link.environment.deadline()
        do throws(OTPLinkError) {
            guard let runtime else { return try body(deadline) }
            return try runtime.perform(OTPLinkError.device, cause: \.link) { () throws(OTPLinkError) in
                try body(deadline)
            }
        } catch {
            throw .otp(error, during: name)
        }
    }
}
