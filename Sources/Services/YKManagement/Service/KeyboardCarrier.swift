// SPDX-License-Identifier: Apache-2.0

package import YKTransport
import YKWire

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
