// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHardware
import YKManagement
import YKTransport
import YKWire

extension World {
    /// Who a key is, asked over the interface that costs least; nothing blinks. `nil` when it does not say, or nobody may
    /// ask.
    func details(of key: SecurityKey) -> KeyDetails? {
        if let fido = key.fido, let told = Self.identity(fido: fido, environment) { return KeyDetails(told) }
        return details(card: key)
            ?? key.otp.flatMap { Self.identity(keyboard: $0, environment) }.map(KeyDetails.init)
    }

    /// What a key says of itself as a card; `nil` when there is none, or another program has its reader.
    private func details(card key: SecurityKey) -> KeyDetails? {
        if let reader = key.reader { return reader.canBeAsked ? try? details(of: reader.name) : nil }
        guard let device = key.usbReader, device.access == .readable, device.reader?.driver == nil,
            let link = try? USB.connect(device, deadline: .after(.seconds(3), cancellation: environment.cancellation))
        else { return nil }
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// What a YubiKey says of itself over FIDO HID; `nil` for other keys, for one that this user may not open, and for
    /// one that is in use for too long.
    static func identity(fido device: HIDDevice, _ environment: Environment) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable else { return nil }
        return try? identity(fido: device, environment, within: .seconds(1))
    }

    /// What a key of any maker says of itself over FIDO HID; each step of it has to be done within `limit`.
    static func identity(
        fido device: HIDDevice, _ environment: Environment, within limit: Duration
    ) throws -> DeviceIdentity {
        var environment = environment
        environment.timeout = min(environment.timeout, limit)
        let known = ReportIdentity(
            path: device.path, name: device.name, vendor: device.vendor, product: device.product)
        let node = try HIDRaw.open(device.path, deadline: environment.deadline())
        return try .read(fido: try HIDFIDOLink(node, environment: environment), known)
    }

    /// What a YubiKey says of itself over its keyboard; `nil` for one that waits for a touch, which a question would
    /// put an end to.
    private static func identity(keyboard device: HIDDevice, _ environment: Environment) -> DeviceIdentity? {
        guard device.vendor == USBProduct.vendor, device.access == .readable,
            let node = try? HIDRaw.open(device.path, deadline: .after(.seconds(1))),
            let report = try? node.feature(deadline: .after(.seconds(1))),
            case .status? = try? OTPReport(decoding: report)
        else { return nil }
        let known = ReportIdentity(
            path: device.path, name: device.name, vendor: device.vendor, product: device.product)
        return try? .read(otp: HIDOTPLink(node, environment: environment), known)
    }
}

extension ReaderStatus {
    /// Whether there is a card that takes commands.
    fileprivate var canBeAsked: Bool {
        if case .storage? = contactless { return false }
        return hasCard && !isMute
    }
}
