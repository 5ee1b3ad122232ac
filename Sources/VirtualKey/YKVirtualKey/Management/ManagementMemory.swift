// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// What the management of a key keeps without power.
package struct ManagementMemory: Hashable, Sendable {
    /// What is switched on over USB; `nil` for all.
    package var usbEnabled: UInt32?
    /// What is switched on over NFC; `nil` for all.
    package var nfcEnabled: UInt32?
    /// The code that protects this, when there is one.
    package var lockCode: [UInt8]?
    /// Seconds after which the smart card is ejected.
    package var autoEject: UInt16 = 0
    /// Seconds that challenge-response waits for a touch.
    package var challengeResponse: UInt8 = 15
    /// Device flags.
    package var flags: UInt8 = 0
    /// Whether NFC is off until the key is in a USB port.
    package var isNFCRestricted = false
    /// The USB mode of a key from before firmware 5; `nil` for all interfaces.
    package var mode: UInt8?

    package init() {}
}

/// What a key keeps of its management as long as there is power.
package struct ManagementPower: Sendable {
    /// Whether it was told to start anew.
    var isRestarting = false

    package init() {}
}

extension ManagementPower: Hashable {
    /// Always: what is lost with the power is not what makes one key another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Nothing.
    package func hash(into hasher: inout Hasher) {}
}
