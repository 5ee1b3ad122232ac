// SPDX-License-Identifier: Apache-2.0

/// The descriptors of a USB device: its device descriptor and one configuration (USB 2.0 §9.6).
public struct USBDescriptors: Hashable, Sendable {
    /// The vendor number.
    public var vendor: UInt16
    /// The product number.
    public var product: UInt16
    /// The release of the device, binary-coded decimal.
    public var release: UInt16
    /// The device class; 0 when each interface has its own.
    public var deviceClass: UInt8
    /// The interfaces in their first alternate setting.
    public var interfaces: [Interface]

    /// One interface.
    public struct Interface: Hashable, Sendable {
        /// Its number.
        public var number: UInt8
        /// Its class: 03 HID, 0B card reader.
        public var interfaceClass: UInt8
        /// Its subclass.
        public var subclass: UInt8
        /// Its protocol.
        public var interfaceProtocol: UInt8
        /// The endpoints.
        public var endpoints: [Endpoint]
        /// The class-specific descriptors, each with its length and type.
        public var extra: [[UInt8]]

        /// Creates an interface.
        public init(
            number: UInt8, interfaceClass: UInt8, subclass: UInt8 = 0, interfaceProtocol: UInt8 = 0,
            endpoints: [Endpoint] = [], extra: [[UInt8]] = []
        ) {
            self.number = number
            self.interfaceClass = interfaceClass
            self.subclass = subclass
            self.interfaceProtocol = interfaceProtocol
            self.endpoints = endpoints
            self.extra = extra
        }

        /// Whether this is a card reader; some early ones have a vendor-specific class and CCID's descriptor.
        public var isCardReader: Bool {
            interfaceClass == CCID.interfaceClass || interfaceClass == 0xFF && reader != nil
        }
        /// Whether it is a HID interface.
        public var isHID: Bool { interfaceClass == 0x03 }
        /// The capabilities of the card reader; `nil` when it has no such descriptor.
        public var reader: CCID.Descriptor? { extra.lazy.compactMap { try? CCID.Descriptor(decoding: $0) }.first }

        /// The first endpoint of a kind and direction.
        public func endpoint(_ kind: Endpoint.Kind, isIn: Bool) -> Endpoint? {
            endpoints.first { $0.kind == kind && $0.isIn == isIn }
        }
    }

    /// One endpoint.
    public struct Endpoint: Hashable, Sendable {
        /// The transfer type.
        public enum Kind: UInt8, Hashable, Sendable {
            /// Control transfers.
            case control
            /// Isochronous transfers.
            case isochronous
            /// Bulk transfers.
            case bulk
            /// Interrupt transfers.
            case interrupt
        }

        /// The address; bit 7 is set for data from the device.
        public var address: UInt8
        /// The transfer type.
        public var kind: Kind
        /// The maximum packet size, in bytes.
        public var packetSize: Int

        /// Creates an endpoint.
        public init(address: UInt8, kind: Kind, packetSize: Int) {
            self.address = address
            self.kind = kind
            self.packetSize = packetSize
        }

        /// Whether data comes from the device.
        public var isIn: Bool { address & 0x80 != 0 }
    }
}
