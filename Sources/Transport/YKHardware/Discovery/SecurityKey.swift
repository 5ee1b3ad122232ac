// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A security key, or a card reader, as one thing: all the interfaces that a person holds in one hand.
public struct SecurityKey: Sendable, Hashable {
    /// Where it is. Two that are in different places are different, whatever they say of themselves.
    public enum Place: Sendable, Hashable {
        /// In the USB port of this name, such as `1-2`.
        case usb(String)
        /// At another bus, behind this node, such as `/dev/hidraw3`.
        case node(String)
        /// In, or on, a reader that is only known to the smart card service.
        case reader(String)

        /// The port, the node, or the reader's name.
        public var name: String {
            switch self {
            case .usb(let name), .node(let name), .reader(let name): name
            }
        }
    }

    /// Where it is.
    public var place: Place
    /// The USB device, where the kernel shows it.
    public var usb: USBDevice?
    /// The HID interfaces that are there.
    public var hid: [HIDDevice]
    /// The reader of the smart card service, where that knows it.
    public var reader: ReaderStatus?

    /// Makes a key.
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
    /// The USB device with a card reader in it that can be used without the smart card service.
    public var usbReader: USBDevice? { usb?.reader == nil ? nil : usb }
    /// Whether there may be a card to talk to: one that the service has seen, or a reader that nobody has asked.
    public var hasCard: Bool { reader?.hasCard ?? (usbReader != nil) }

    /// The serial number in the USB descriptor, where there is one.
    public var serial: String? { usb?.serial ?? hid.lazy.compactMap(\.serial).first }
    /// The USB vendor and product number.
    public var numbers: (vendor: UInt16, product: UInt16)? {
        usb.map { ($0.vendor, $0.product) } ?? hid.first.map { ($0.vendor, $0.product) }
    }
    /// What the key calls itself; where it says nothing, its name in the table of known keys, or its reader's name.
    public var name: String {
        if let name = usb?.name, !name.isEmpty { return name }
        if let name = hid.first?.name, !name.isEmpty { return name }
        return model ?? reader?.name ?? ""
    }
    /// What is printed on a key with these USB numbers, as far as the table of known keys has it.
    public var model: String? { numbers.flatMap { KnownKeys.name(vendor: $0.vendor, product: $0.product) } }

    /// Whether this user may use each interface that there is; a reader of the service may be used by its rules.
    public var isAccessible: Bool {
        hid.allSatisfy { $0.access == .readable } && (reader != nil || usbReader.map { $0.access == .readable } ?? true)
    }

    /// Whether a path means this key: its port, or the node of one of its interfaces.
    public func isAt(_ path: String) -> Bool {
        place.name == path || usb?.node == path || hid.contains { $0.path == path }
    }
}

/// What happened to a key.
public enum KeyEvent: Sendable, Hashable {
    /// A key is there.
    case arrived(SecurityKey)
    /// Something about a key is different: an interface came or went, its permissions, or the card in a reader.
    case changed(SecurityKey)
    /// A key is gone.
    case left(SecurityKey)
    /// Every key that was there at the beginning has been told of.
    case enumerated
    /// The smart card service cannot be used just now; keys without it are told of.
    case interrupted(LinkError)
}
