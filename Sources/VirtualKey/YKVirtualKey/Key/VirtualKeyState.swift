// SPDX-License-Identifier: Apache-2.0

/// The persistent state of a virtual key.
public struct VirtualKeyState: Hashable, Sendable {
    /// The kind of key.
    public var profile: DeviceProfile
    /// The OATH application's memory.
    package var oath: OATHMemory
    /// The address in the NDEF message that the key gives to a telephone; the code of "https://" stands before it.
    package var ndef = "my.yubico.com/yk/#"

    /// The FIDO application's memory.
    package var fido = FIDOMemory()
    /// What the FIDO application keeps as long as there is power; it makes no difference between two states.
    package var fidoPower = FIDOPower()

    /// What the management application keeps.
    package var management = ManagementMemory()
    /// What it keeps as long as there is power; it makes no difference between two states.
    package var managementPower = ManagementPower()

    /// The PIV application's memory.
    package var piv = PIVMemory()

    /// The YubiHSM Auth application's memory.
    package var hsmAuth = HSMAuthMemory()

    /// The OpenPGP application's memory.
    package var openPGP = OpenPGPMemory()

    /// The Security Domain's memory.
    package var securityDomain = SecurityDomainMemory()

    /// The OTP application's memory.
    package var otp = OTPMemory()
    /// What the OTP application keeps as long as there is power; it makes no difference between two states.
    package var otpPower = OTPPower()

    package init(profile: DeviceProfile, oath: OATHMemory) {
        self.profile = profile
        self.oath = oath
        piv = PIVMemory(profile)
    }
}
