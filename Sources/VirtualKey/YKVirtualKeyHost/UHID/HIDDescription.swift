// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// A HID device as described to the kernel.
package struct HIDDescription: Hashable, Sendable {
    /// The device name.
    var name: String
    /// The physical location, which distinguishes it from all others.
    var place = ""
    /// The serial number; may be empty.
    var serial: String
    /// The USB vendor number.
    var vendor: UInt16
    /// The USB product number.
    var product: UInt16
    /// The device release number, in binary-coded decimal.
    var version: UInt16
    /// The report descriptor.
    var descriptor: [UInt8]

    /// Describes a FIDO authenticator; it has no location yet.
    package init(name: String, serial: String, vendor: UInt16, product: UInt16, version: UInt16) {
        self.name = name
        self.serial = serial
        self.vendor = vendor
        self.product = product
        self.version = version
        descriptor = Self.fido
    }

    /// Describes the FIDO interface of a key.
    init(_ key: VirtualKeyState) {
        name = "\(key.usbMaker) \(key.usbProductName)"
        serial = String(key.profile.serial)
        vendor = key.profile.vendor
        product = key.usbProduct
        version = key.profile.release
        descriptor = Self.fido
    }

    /// Usage page F1D0, usage 01, reports of 64 bytes in (usage 20) and out (usage 21), CTAP 2.2 §11.2.8.1.
    static let fido: [UInt8] = [
        0x06, 0xD0, 0xF1, 0x09, 0x01, 0xA1, 0x01, 0x09, 0x20, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40,
        0x81, 0x02, 0x09, 0x21, 0x15, 0x00, 0x26, 0xFF, 0x00, 0x75, 0x08, 0x95, 0x40, 0x91, 0x02, 0xC0,
    ]
}
