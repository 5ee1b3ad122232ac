// SPDX-License-Identifier: Apache-2.0

import YKFIDO
package import YKHardware
public import YKManagement
package import YKTransport
import YKWire

/// What a key is, as far as it tells.
public struct KeyDetails: Hashable, Sendable {
    /// The product's name; the reader's where the key does not tell.
    public var name: String
    /// The serial number.
    public var serial: String?
    /// The firmware version.
    public var version: String?

    /// Takes over what is known of a device.
    public init(_ identity: DeviceIdentity) {
        name = identity.product
        serial = identity.serial
        version = identity.firmware
    }

    /// Asks a card; one that does not answer the question is called by its reader's name.
    package init(_ channel: CardChannel) {
        do { self.init(try DeviceIdentity.read(channel)) } catch {
            let name = error == .nfcRestricted ? "YubiKey in its NFC restricted mode" : channel.identity.reader
            self.init(DeviceIdentity(maker: .unknown, product: name))
        }
    }
}

extension Keys {
    /// Asks a key what it is, over the interface that costs least; nothing blinks.
    ///
    /// - Returns: `nil` when the key does not tell, or may not be asked.
    package func details(of key: SecurityKey) -> KeyDetails? {
        if let fido = key.fido, let identity = identity(fido: fido) { return KeyDetails(identity) }
        return cardDetails(of: key) ?? key.otp.flatMap { identity(keyboard: $0) }.map(KeyDetails.init)
    }

    /// Asks the card in a reader what it is.
    package func details(reader: String) throws(LinkError) -> KeyDetails {
        let link = try hardware.connect(reader: reader, deadline: environment.deadline())
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// What a key tells as a card; `nil` when there is none, or another program has its reader.
    private func cardDetails(of key: SecurityKey) -> KeyDetails? {
        if let reader = key.reader { return reader.answersCommands ? try? details(reader: reader.name) : nil }
        guard let device = key.usbReader, device.access == .readable, device.reader?.driver == nil,
            let link = try? hardware.connect(
                device, deadline: .after(.seconds(3), cancellation: environment.cancellation))
        else { return nil }
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// What a YubiKey tells over FIDO; `nil` for other keys, for one that this user may not open, and for one that is in
    /// use for more than a second.
    func identity(fido device: HIDDevice) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable else { return nil }
        return try? identity(fido: device, within: .seconds(1))
    }

    /// What a key of any maker tells over FIDO; each step is limited to `limit`.
    package func identity(fido device: HIDDevice, within limit: Duration) throws -> DeviceIdentity {
        var environment = environment
        environment.timeout = min(environment.timeout, limit)
        let node = try hardware.open(device.path, deadline: environment.deadline())
        return try .read(fido: try HIDFIDOLink(node, environment: environment), device.reportIdentity)
    }

    /// What a key tells over its keyboard; each step is limited to `limit`.
    package func identity(otp device: HIDDevice, within limit: Duration) throws -> DeviceIdentity {
        var environment = environment
        environment.timeout = min(environment.timeout, limit)
        let node = try hardware.open(device.path, deadline: environment.deadline())
        return try .read(otp: HIDOTPLink(node, environment: environment), device.reportIdentity)
    }

    /// What a YubiKey tells over its keyboard; `nil` for one that waits for a touch, which a question would end.
    private func identity(keyboard device: HIDDevice) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable,
            let node = try? hardware.open(device.path, deadline: .after(.seconds(1))),
            let report = try? node.feature(deadline: .after(.seconds(1))),
            case .status? = try? OTPReport(decoding: report)
        else { return nil }
        return try? .read(otp: HIDOTPLink(node, environment: environment), device.reportIdentity)
    }

    /// The serial number of a key on the USB: its descriptor's, else what the key tells over the cheapest interface.
    func serial(of device: USBDevice) -> String? {
        if let serial = device.serial { return serial }
        let hid = ((try? hardware.hidDevices()) ?? []).filter { $0.usbPath == device.usbPath }
        return details(of: SecurityKey(place: .usb(device.usbPath), usb: device, hid: hid))?.serial
    }

    /// Throws `busy` when a card keeps its serial number to itself because another program holds it.
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
    /// Whether another program is why the card cannot be used.
    fileprivate var isBusy: Bool {
        switch self {
        case .busy, .reset: true
        default: false
        }
    }
}

extension ReaderStatus {
    /// Whether there is a card that takes commands.
    fileprivate var answersCommands: Bool {
        if case .storage? = contactless { return false }
        return hasCard && !isMute
    }
}

extension HIDDevice {
    /// What a link to the device would say of it.
    var reportIdentity: ReportIdentity {
        ReportIdentity(path: path, name: name, vendor: vendor, product: product)
    }
}
