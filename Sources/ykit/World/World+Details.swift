// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKHardware
import YKManagement
import YKTransport

extension World {
    /// Who a key is, asked over the interface that costs least; nothing blinks. `nil` when it does not say, or nobody may
    /// ask.
    func details(of key: SecurityKey) -> KeyDetails? {
        if let fido = key.fido, let told = Self.identity(fido: fido, environment) { return KeyDetails(told) }
        if let reader = key.reader { return reader.hasCard ? try? details(of: reader.name) : nil }
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
}
