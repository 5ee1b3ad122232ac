// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKHardware
import YKKeys
import YKTransport
package import YKWire

extension AttachedKey {
    /// The same members for every key or reader; a missing value is null. `link`, `path` and `access` are those of the
    /// first usable interface; `interfaces` lists all of them.
    package var json: JSONValue {
        let first = key.fido ?? key.otp
        let link = key.reader != nil ? "pcsc" : first != nil ? "hid" : "usb"
        let access = first?.access ?? key.usbReader?.access
        let numbers = key.numbers
        return [
            "link": .string(link), "reader": reader.map(JSONValue.string) ?? .null,
            "atr": key.reader.map { .string(Hex.encode($0.atr)) } ?? .null,
            "hasCard": key.reader.map { .bool($0.hasCard) } ?? .null,
            "inUse": key.reader.map { .bool($0.isInUse) } ?? .null, "path": first.map { .string($0.path) } ?? .null,
            "usb": usb.map(JSONValue.string) ?? .null, "vendor": numbers.map { .string(Self.hex($0.vendor)) } ?? .null,
            "product": numbers.map { .string(Self.hex($0.product)) } ?? .null,
            "access": access.map { .string($0.word) } ?? .null, "name": name.map(JSONValue.string) ?? .null,
            "serial": serial.map(JSONValue.string) ?? .null, "version": details?.version.map(JSONValue.string) ?? .null,
            "model": key.model.map(JSONValue.string) ?? .null, "interfaces": .array(interfaces),
        ]
    }

    private var usb: String? { if case .usb(let port) = key.place { port } else { nil } }

    /// The name; `nil` for a reader whose card was not queried.
    private var name: String? {
        if let details { return details.name }
        if case .reader = key.place { return nil }
        return key.name
    }

    private var interfaces: [JSONValue] {
        var found: [JSONValue] = []
        if let device = key.usbReader {
            let holders = DirectUSB.holders(of: device).map { JSONValue.string($0.name) }
            found.append(Self.interface("card", link: "usb", path: device.node, access: device.access, heldBy: holders))
        }
        if let reader = key.reader {
            let kind = reader.contactless == nil ? "card" : "nfc"
            found.append(Self.interface(kind, link: "pcsc", reader: reader.name))
        }
        found += hid.map { device in
            Self.interface(device.isFIDO ? "fido" : "otp", link: "hid", path: device.path, access: device.access)
        }
        return found + contactless.map { Self.interface("nfc", link: "pcsc", reader: $0.name) }
    }

    private static func interface(
        _ kind: String, link: String, path: String? = nil, reader: String? = nil, access: HIDDevice.Access? = nil,
        heldBy holders: [JSONValue] = []
    ) -> JSONValue {
        [
            "kind": .string(kind), "link": .string(link), "path": path.map(JSONValue.string) ?? .null,
            "reader": reader.map(JSONValue.string) ?? .null, "access": access.map { .string($0.word) } ?? .null,
            "heldBy": .array(holders),
        ]
    }
}
