// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// Who made a key, and which one it is: for a list of the keys that are attached.
public struct DeviceIdentity: Hashable, Sendable {
    /// A maker of keys. An open set.
    public struct Maker: RawRepresentable, Hashable, Sendable {
        /// The maker's name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Yubico.
        public static let yubico = Maker(rawValue: "Yubico")
        /// CanoKeys.
        public static let canokey = Maker(rawValue: "CanoKey")
        /// Not one that is known here.
        public static let unknown = Maker(rawValue: "unknown")
    }

    /// Who made it.
    public var maker: Maker
    /// What it is called.
    public var product: String
    /// Its firmware as it names it; `nil` when it does not.
    public var firmware: String?
    /// Its firmware as numbers, where the name begins with three.
    public var version: Version?
    /// Its serial number as it is printed: decimal for Yubico, hexadecimal for others.
    public var serial: String?
    /// What a YubiKey says of itself.
    public var info: DeviceInfo?

    /// Creates an identity.
    public init(
        maker: Maker, product: String, firmware: String? = nil, serial: String? = nil, info: DeviceInfo? = nil
    ) {
        self.maker = maker
        self.product = product
        self.firmware = firmware
        self.serial = serial
        self.info = info
        version = info?.version ?? firmware.flatMap { Version($0.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }) }
    }
}
