// SPDX-License-Identifier: Apache-2.0

/// Everything that a virtual key keeps without power.
public struct VirtualKeyState: Hashable, Sendable {
    /// What kind of key it is.
    public var profile: DeviceProfile
    /// The OATH application's memory.
    package var oath: OATHMemory
    /// The address in the NDEF message that the key gives to a telephone; the code of "https://" stands before it.
    package var ndef = "my.yubico.com/yk/#"

    package init(profile: DeviceProfile, oath: OATHMemory) {
        self.profile = profile
        self.oath = oath
    }
}
