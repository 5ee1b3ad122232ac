// SPDX-License-Identifier: Apache-2.0

import YKTransport

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
}
