// SPDX-License-Identifier: Apache-2.0

public import YKTransport

extension DeviceIdentity {
    /// What the numbers and the name of a USB device tell; nothing is asked of it.
    public init(vendor: UInt16, product: UInt16, name: String) {
        let maker = Maker(vendor: vendor, product: product) ?? Maker(named: name)
        let known = KnownKeys.name(vendor: vendor, product: product)
        let fallback = maker.map { "\($0.rawValue) security key" } ?? "Security key"
        // A YubiKey's own name tells more than its numbers.
        let isYubico = maker == .yubico && !name.isEmpty
        self.init(maker: maker ?? .unknown, product: (isYubico ? nil : known) ?? (name.isEmpty ? fallback : name))
    }

    /// Asks a YubiKey for its device information over its FIDO interface; the key of another maker is known by its
    /// numbers, and its firmware by what it said when the link was opened.
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
        let info = try ManagementSession(link, product: product).deviceInfo()
        return DeviceIdentity(info)
    }

    /// Asks a YubiKey for its device information over its OTP interface.
    public static func read(
        otp link: sending any OTPLink, _ device: ReportIdentity
    ) throws(ManagementError) -> DeviceIdentity {
        let product = USBProduct(vendor: device.vendor, product: device.product)
        return DeviceIdentity(try ManagementSession(otp: link, product: product).deviceInfo())
    }
}
