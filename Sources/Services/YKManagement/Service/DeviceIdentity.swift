// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// The vendor and model of a key, for a list of attached keys.
public struct DeviceIdentity: Hashable, Sendable {
    /// A vendor of keys.
    public struct Maker: OpenSet {
        /// The vendor's name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Yubico.
        public static let yubico = Maker(rawValue: "Yubico")
        /// CanoKeys.
        public static let canokey = Maker(rawValue: "CanoKey")
        /// An unknown vendor.
        public static let unknown = Maker(rawValue: "unknown")
    }

    /// The vendor.
    public var maker: Maker
    /// The product name.
    public var product: String
    /// The firmware as reported; `nil` if it is not.
    public var firmware: String?
    /// The firmware as numbers, if it begins with three.
    public var version: FirmwareVersion?
    /// The serial number as printed: decimal for Yubico, hexadecimal for others.
    public var serial: String?
    /// A YubiKey's device information.
    public var info: DeviceInfo?
    /// Why the device information, or its later pages, could not be read.
    public var problem: ManagementError?

    /// Creates an identity.
    public init(
        maker: Maker, product: String, firmware: String? = nil, serial: String? = nil, info: DeviceInfo? = nil
    ) {
        self.maker = maker
        self.product = product
        self.firmware = firmware
        self.serial = serial
        self.info = info
        version =
            info?.version
            ?? firmware.flatMap { FirmwareVersion($0.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }) }
    }
}

extension DeviceIdentity: CustomStringConvertible {
    /// Product, firmware and serial number.
    public var description: String {
        [product, firmware, serial.map { "serial \($0)" }].compactMap(\.self).joined(separator: ", ")
    }
}
