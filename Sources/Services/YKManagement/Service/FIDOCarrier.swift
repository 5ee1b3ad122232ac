// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKTransport
import YKWire

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
