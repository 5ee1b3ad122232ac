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

        /// Whether data comes from the device.
        public var isIn: Bool { address & 0x80 != 0 }
    }
}

extension USBDescriptors {
    /// The maximum input size in bytes: a device descriptor and the longest configuration.
    public static let sizeLimit = 18 + 65_535

    /// Decodes a device descriptor and the first configuration after it, as in the file `descriptors` of sysfs. Unknown
    /// descriptors and alternate settings are skipped.
    ///
    /// - Throws: `WireError` for an invalid device descriptor, for a descriptor that is truncated or shorter than two
    /// bytes, and for an endpoint before any interface.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard bytes.count <= Self.sizeLimit else {
            throw WireError(.tooLarge, at: 0, "descriptors of \(bytes.count) bytes, at most \(Self.sizeLimit)")
        }
        var reader = ByteReader(bytes)
        var device = try reader.reader(18, "the device descriptor")
        guard try device.byte() >= 18, try device.byte() == 1 else {
            throw WireError(.malformed, at: 0, "no device descriptor")
        }
        _ = try device.bytes(2)
        deviceClass = try device.byte()
        _ = try device.bytes(3)
        vendor = UInt16(truncatingIfNeeded: try device.littleEndian(2))
        product = UInt16(truncatingIfNeeded: try device.littleEndian(2))
        release = UInt16(truncatingIfNeeded: try device.littleEndian(2))
        interfaces = []
        try readConfiguration(&reader)
    }

    private mutating func readConfiguration(_ reader: inout ByteReader) throws(WireError) {
        var hasBegun = false
        var isPassedOver = false
        while !reader.isAtEnd {
            let start = reader.offset
            let length = Int(try reader.byte("a descriptor's length"))
            guard length >= 2 else { throw WireError(.malformed, at: start, "a descriptor of \(length) bytes") }
            var body = try reader.reader(length - 1, "a descriptor")
            switch try body.byte("a descriptor's type") {
            case 2:
                if hasBegun { return }
                hasBegun = true
            case 4:
                let (number, setting) = (try body.byte("an interface's number"), try body.byte("its setting"))
                _ = try body.byte("the number of endpoints")
                isPassedOver = setting != 0 || interfaces.contains { $0.number == number }
                guard !isPassedOver else { break }
                interfaces.append(
                    Interface(
                        number: number, interfaceClass: try body.byte("the class"),
                        subclass: try body.byte("the subclass"), interfaceProtocol: try body.byte("the protocol")))
            case 5:
                guard !interfaces.isEmpty else {
                    throw WireError(.malformed, at: start, "an endpoint without an interface")
                }
                let endpoint = try Self.endpoint(&body)
                if !isPassedOver { interfaces[interfaces.count - 1].endpoints.append(endpoint) }
            case let type:
                guard !interfaces.isEmpty, !isPassedOver else { break }
                interfaces[interfaces.count - 1].extra.append([UInt8(length), type] + body.rest())
            }
        }
    }

    private static func endpoint(_ body: inout ByteReader) throws(WireError) -> Endpoint {
        let address = try body.byte("an endpoint's address")
        let kind = Endpoint.Kind(rawValue: try body.byte("its kind") & 0x03) ?? .control
        return Endpoint(address: address, kind: kind, packetSize: Int(try body.littleEndian(2, "its packets") & 0x7FF))
    }
}
