// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// State of an application that is lost on power-off, and so does not make one key different from another.
package protocol PowerState: Hashable, Sendable {}

extension PowerState {
    /// Always true.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Does nothing.
    package func hash(into hasher: inout Hasher) {}
}

/// The persistent state of a virtual key.
public struct VirtualKeyState: Hashable, Sendable {
    /// The kind of key.
    public var profile: DeviceProfile
    /// The OATH application's memory.
    package var oath: OATHMemory
    /// The URI in the NDEF message that the key sends to a phone, without the "https://" that the record's prefix code
    /// stands for.
    package var ndef: String

    /// The FIDO application's memory.
    package var fido = FIDOMemory()
    /// The FIDO application's state that is lost on power-off; ignored when comparing states.
    var fidoPower = FIDOPower()

    /// The management application's memory.
    package var management = ManagementMemory()
    /// The management application's state that is lost on power-off; ignored when comparing states.
    var managementPower = ManagementPower()

    /// The memories of the card's other applications, by type; see ``AppletMemory``.
    var memories: [ObjectIdentifier: StoredMemory] = [:]

    /// The OTP application's memory.
    package var otp = OTPMemory()
    /// The OTP application's state that is lost on power-off; ignored when comparing states.
    var otpPower = OTPPower()

    package init(profile: DeviceProfile, oath: OATHMemory) {
        self.profile = profile
        self.oath = oath
        ndef = profile.version.major == 3 ? "my.yubico.com/neo/" : "my.yubico.com/yk/#"
        piv = PIVMemory(profile)
    }

    /// Creates a new key without accounts.
    public static func new(
        _ profile: DeviceProfile, random: any RandomSource = SystemRandom()
    ) throws(LinkError) -> VirtualKeyState {
        VirtualKeyState(profile: profile, oath: OATHMemory(salt: try random.draw(8, secret: false)))
    }

    /// The key for demonstrations and examples, always the same: serial 16777217, firmware 5.7.1 and one account of
    /// each kind. Its secrets are public, since every copy of this program contains them.
    public static func demonstration(version: FirmwareVersion = FirmwareVersion(5, 7, 1)) -> VirtualKeyState {
        VirtualKeyState(
            profile: DeviceProfile(version: version, serial: 16_777_217),
            oath: OATHMemory(
                salt: [0x79, 0x6B, 0x69, 0x74, 0x64, 0x65, 0x6D, 0x6F],
                accounts: [
                    account("Acme:alice@example.com", .totp),
                    account("Example Bank:4711", .totp, digits: 8),
                    account("60/Slow Corp:bob", .totp),
                    account("Strong:carol", .totp, hash: .sha256, length: 32),
                    account("Counter:dave", .hotp),
                    account("Careful:erin", .totp, properties: .touch),
                    account("Steam:frank", .totp),
                ].filter { $0.properties.isEmpty || version >= FirmwareVersion(4, 2, 6) }))
    }

    private static func account(
        _ name: String, _ kind: VirtualAccount.Kind, hash: VirtualAccount.Hash = .sha1, digits: UInt8 = 6,
        length: Int = 20, properties: VirtualAccount.Properties = []
    ) -> VirtualAccount {
        let digit = Array("1234567890".utf8)
        return VirtualAccount(
            name: Array(name.utf8), kind: kind, hash: hash, digits: digits,
            secret: (0..<length).map { digit[$0 % digit.count] }, properties: properties)
    }
}

extension DeviceProfile {
    /// A profile with a random serial number.
    static func random(_ random: any RandomSource) throws(LinkError) -> DeviceProfile {
        let number = try random.draw(3, secret: false).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return DeviceProfile(serial: 0x0100_0000 | number)
    }
}
