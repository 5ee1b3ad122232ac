// SPDX-License-Identifier: Apache-2.0

import YKFIDO
package import YKHardware
public import YKManagement
package import YKTransport
import YKWire

/// The identity of a key, as far as the key reports it.
public struct KeyDetails: Hashable, Sendable {
    /// The product's name; the reader's name when the key reports none.
    public var name: String
    /// The serial number.
    public var serial: String?
    /// The firmware version.
    public var version: String?

    /// Creates the details from a device identity.
    public init(_ identity: DeviceIdentity) {
        name = identity.product
        serial = identity.serial
        version = identity.firmware
    }

    /// Reads the details of a card; for a card that does not answer, the name is its reader's.
    package init(_ channel: CardChannel) {
        do { self.init(try DeviceIdentity.read(channel)) } catch {
            let name = error == .nfcRestricted ? "YubiKey in its NFC restricted mode" : channel.identity.reader
            self.init(DeviceIdentity(maker: .unknown, product: name))
        }
    }
}

extension KeyDetails: CustomStringConvertible {
    /// Name, firmware and serial number.
    public var description: String {
        [name, version, serial.map { "serial \($0)" }].compactMap(\.self).joined(separator: ", ")
    }
}

extension KeyRing {
    /// Reads the details of a key over the cheapest interface; nothing blinks.
    ///
    /// - Returns: `nil` when the key does not report them, or is not accessible.
    package func details(of key: SecurityKey) -> KeyDetails? {
        if let fido = key.fido, let identity = identity(fido: fido) { return KeyDetails(identity) }
        return cardDetails(of: key) ?? key.otp.flatMap { identity(keyboard: $0) }.map(KeyDetails.init)
    }

    /// Reads the details of the card in a reader.
    package func details(reader: String) throws(LinkError) -> KeyDetails {
        let link = try hardware.connect(reader: reader, deadline: environment.deadline())
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// Reads the details of a key as a card; `nil` when there is no card, or another program holds its reader.
    private func cardDetails(of key: SecurityKey) -> KeyDetails? {
        if let reader = key.reader { return reader.answersCommands ? try? details(reader: reader.name) : nil }
        guard let device = key.usbReader, device.access == .readable, device.reader?.driver == nil,
            let link = try? hardware.connect(
                device, deadline: .after(.seconds(3), cancellation: environment.cancellation))
        else { return nil }
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// Reads the identity of a YubiKey over FIDO; `nil` for other keys, for one that this user may not open, and for
    /// one that is in use for more than a second.
    func identity(fido device: HIDDevice) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable else { return nil }
        return try? identity(fido: device, within: .seconds(1))
    }

    /// Reads the identity of any vendor's key over FIDO; each step is limited to `limit`.
    package func identity(fido device: HIDDevice, within limit: Duration) throws -> DeviceIdentity {
        let environment = searchEnvironment(within: limit)
        let node = try hardware.open(device.path, deadline: environment.deadline())
        return try .read(fido: try HIDFIDOLink(node, environment: environment), device.reportIdentity)
    }

    /// Reads the identity of a key over its keyboard; each step is limited to `limit`.
    package func identity(otp device: HIDDevice, within limit: Duration) throws -> DeviceIdentity {
        let environment = searchEnvironment(within: limit)
        let node = try hardware.open(device.path, deadline: environment.deadline())
        return try .read(otp: HIDOTPLink(node, environment: environment), device.reportIdentity)
    }

    /// Reads the identity of a YubiKey over its keyboard; `nil` for one that waits for a touch, which a query would
    /// abort.
    private func identity(keyboard device: HIDDevice) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable,
            let node = try? hardware.open(device.path, deadline: .after(.seconds(1))),
            let report = try? node.feature(deadline: .after(.seconds(1))),
            case .status? = try? OTPReport(decoding: report)
        else { return nil }
        let environment = searchEnvironment(within: environment.timeout)
        return try? .read(otp: HIDOTPLink(node, environment: environment), device.reportIdentity)
    }

    /// The serial number of a USB key: from its descriptor, otherwise read over the cheapest interface.
    func serial(of device: USBDevice) -> String? {
        if let serial = device.serial { return serial }
        let hid = ((try? hardware.hidDevices()) ?? []).filter { $0.usbPath == device.usbPath }
        return details(of: SecurityKey(place: .usb(device.usbPath), usb: device, hid: hid))?.serial
    }

    /// Throws `busy` when a card does not report its serial number because another program holds it.
    func checkHolder(of reader: String) throws(KeyError) {
        do {
            let link = try hardware.connect(reader: reader, deadline: environment.deadline())
            _ = try DeviceIdentity.read(CardChannel(link: link, environment: environment))
        } catch {
            let cause =
                switch error {
                case let error as LinkError: error
                case ManagementError.card(.link(let error)): error
                default: LinkError?.none
                }
            if let cause, cause.isBusy { throw .link(cause) }
        }
    }
}

extension LinkError {
    /// Whether the card cannot be used because of another program.
    fileprivate var isBusy: Bool {
        switch self {
        case .busy, .reset: true
        default: false
        }
    }
}

extension ReaderStatus {
    /// Whether there is a card that accepts commands.
    fileprivate var answersCommands: Bool {
        if case .storage? = contactless { return false }
        return hasCard && !isMute
    }
}

extension HIDDevice {
    /// The identity that a link to the device would report.
    var reportIdentity: ReportIdentity {
        ReportIdentity(path: path, name: name, vendor: vendor, product: product)
    }
}
