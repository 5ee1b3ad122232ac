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
        if let fido = key.fido, fido.access == .readable, let told = Self.details(fido: fido, environment) {
            return told
        }
        if let reader = key.reader { return reader.hasCard ? try? details(of: reader.name) : nil }
        guard let device = key.usbReader, device.access == .readable, device.reader?.driver == nil,
            let link = try? USB.connect(device, deadline: .after(.seconds(3), cancellation: environment.cancellation))
        else { return nil }
        return KeyDetails(CardChannel(link: link, environment: environment))
    }

    /// What a YubiKey says of itself over FIDO HID; `nil` for other keys, and for one that is in use for too long.
    private static func details(fido device: HIDDevice, _ environment: Environment) -> KeyDetails? {
        guard device.vendor == 0x1050,
            let node = try? HIDRaw.open(device.path, deadline: .after(.seconds(1))),
            let link = try? HIDFIDOLink(node, environment: environment)
        else { return nil }
        return try? KeyDetails(info: DeviceInfo.read(link))
    }
}

extension KeyDetails {
    fileprivate init(info: DeviceInfo) {
        name = info.productName
        serial = info.serial.map { "\($0)" }
        version = info.versionText
    }
}

extension DeviceInfo {
    /// Yubico's configuration over CTAPHID (vendor command 42): pages of a length byte and data objects.
    fileprivate static func read(_ link: any FIDOLink) throws -> DeviceInfo {
        var objects: [TLV] = []
        for number in 0..<UInt8(8) {
            let page = try link.call(
                .init(rawValue: 0x42), [number], deadline: .after(.seconds(1)), keepalive: { _ in })
            let found = try TLV.list(Array(page.dropFirst()))
            objects += found.filter { $0.tag != 0x10 }
            guard found.value(0x10)?.last ?? 0 != 0 else { break }
        }
        return try DeviceInfo(objects, selected: link.profile.deviceVersion ?? Version(0, 0, 0))
    }
}
