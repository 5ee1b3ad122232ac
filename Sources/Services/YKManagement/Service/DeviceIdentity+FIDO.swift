// SPDX-License-Identifier: Apache-2.0

public import YKTransport

extension DeviceIdentity {
    /// Creates an identity from the numbers and the name of a USB device; sends nothing.
    public init(vendor: UInt16, product: UInt16, name: String) {
        let maker = Maker(vendor: vendor, product: product) ?? Maker(named: name)
        let known = KnownKeys.name(vendor: vendor, product: product)
        let fallback = maker.map { "\($0.rawValue) security key" } ?? "Security key"
        // A YubiKey's own name is more specific than its numbers.
        let isYubico = maker == .yubico && !name.isEmpty
        self.init(maker: maker ?? .unknown, product: (isYubico ? nil : known) ?? (name.isEmpty ? fallback : name))
    }

    /// Reads a YubiKey's device information over its FIDO interface; a key of another vendor is identified by its
    /// numbers, and its firmware by the reply when the link was opened.
    public static func read(
        fido link: sending any FIDOLink, _ device: ReportIdentity
    ) throws(ManagementError) -> DeviceIdentity {
        var identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
        guard identity.maker == .yubico else {
            identity.firmware = link.profile.deviceVersion.map(\.description)
            identity.version = link.profile.deviceVersion
            return identity
        }
        let product = USBProduct(vendor: device.vendor, product: device.product)
        return try read(ManagementSession(link, product: product))
    }

    /// Reads a YubiKey's device information over its OTP interface.
    public static func read(
        otp link: sending any OTPLink, _ device: ReportIdentity
    ) throws(ManagementError) -> DeviceIdentity {
        let product = USBProduct(vendor: device.vendor, product: device.product)
        return try read(ManagementSession(otp: link, product: product))
    }
}
