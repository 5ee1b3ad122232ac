// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A security key or card reader with all the interfaces of the physical device.
public struct SecurityKey: Sendable, Hashable {
    /// The location. Keys in different locations are different, whatever they report about themselves.
    public enum Place: Sendable, Hashable {
        /// In the USB port of this name, such as `1-2`.
        case usb(String)
        /// On another bus, behind this node, such as `/dev/hidraw3`.
        case node(String)
        /// In or on a reader known only to the smart card service.
        case reader(String)

        /// The port, the node, or the reader's name.
        public var name: String {
            switch self {
            case .usb(let name), .node(let name), .reader(let name): name
            }
        }
    }

    /// The location.
    public var place: Place
    /// The USB device, if the kernel shows it.
    public var usb: USBDevice?
    /// The HID interfaces.
    public var hid: [HIDDevice]
    /// The reader in the smart card service, if known there.
    public var reader: ReaderStatus?

    /// Creates a key.
    public init(place: Place, usb: USBDevice? = nil, hid: [HIDDevice] = [], reader: ReaderStatus? = nil) {
        self.place = place
        self.usb = usb
        self.hid = hid
        self.reader = reader
    }

    /// The FIDO authenticator.
    public var fido: HIDDevice? { hid.first(where: \.isFIDO) }
    /// The keyboard of the OTP application.
    public var otp: HIDDevice? { hid.first(where: \.isOTP) }
    /// The USB device, if it has a card reader that can be used without the smart card service.
    public var usbReader: USBDevice? { usb?.reader == nil ? nil : usb }
    /// Whether there may be a card: one that the service has seen, or a reader that has not been queried.
    public var hasCard: Bool { reader?.hasCard ?? (usbReader != nil) }

    /// The serial number in the USB descriptor, if present.
    public var serial: String? { usb?.serial ?? hid.lazy.compactMap(\.serial).first }
    /// The USB vendor and product number.
    public var numbers: (vendor: UInt16, product: UInt16)? {
        usb.map { ($0.vendor, $0.product) } ?? hid.first.map { ($0.vendor, $0.product) }
    }
    /// The name reported by the key, otherwise the name in the table of known keys, or the reader's name.
    public var name: String {
        if let name = usb?.name, !name.isEmpty { return name }
        if let name = hid.first?.name, !name.isEmpty { return name }
        return model ?? reader?.name ?? ""
    }
    /// The product name for these USB numbers, if it is in the table of known keys.
    public var model: String? { numbers.flatMap { KnownKeys.name(vendor: $0.vendor, product: $0.product) } }

    /// Whether this user may use all interfaces; access to a reader of the service depends on its own rules.
    public var isAccessible: Bool {
        hid.allSatisfy { $0.access == .readable } && (reader != nil || usbReader.map { $0.access == .readable } ?? true)
    }

    /// Whether a path refers to this key: its port, or the node of one of its interfaces.
    public func isAt(_ path: String) -> Bool {
        place.name == path || usb?.node == path || hid.contains { $0.path == path }
    }
}

/// A change of what is attached.
public enum HardwareEvent: Sendable, Hashable {
    /// A key was attached.
    case arrived(SecurityKey)
    /// A key changed: an interface was added or removed, its permissions changed, or the card in a reader did.
    case changed(SecurityKey)
    /// A key was removed.
    case left(SecurityKey)
    /// All keys that were attached at the start have been reported.
    case enumerated
    /// The smart card service is currently unavailable; keys that do not need it are still reported.
    case interrupted(LinkError)
}
