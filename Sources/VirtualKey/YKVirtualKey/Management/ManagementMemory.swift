// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// The persistent state of the management application.
package struct ManagementMemory: Hashable, Sendable {
    /// The applications enabled over USB; `nil` for all.
    package var usbEnabled: UInt32?
    /// The applications enabled over NFC; `nil` for all.
    package var nfcEnabled: UInt32?
    /// The lock code that protects the configuration, if set.
    package var lockCode: [UInt8]?
    /// Seconds after which the smart card is ejected.
    package var autoEject: UInt16 = 0
    /// How long challenge-response waits for a touch, in seconds.
    package var challengeResponse: UInt8 = 15
    /// Device flags.
    package var flags: UInt8 = 0
    /// Whether NFC is disabled until the key is in a USB port.
    package var isNFCRestricted = false
    /// The USB mode of a key with firmware before 5; `nil` for all interfaces.
    package var mode: UInt8?

    package init() {}
}

/// The management application's state that is lost on power-off.
package struct ManagementPower: Sendable {
    /// Whether the key was told to restart.
    var isRestarting = false

    package init() {}
}

extension ManagementPower: Hashable {
    /// Always true: volatile state does not make one key different from another.
    package static func == (left: Self, right: Self) -> Bool { true }
    /// Does nothing.
    package func hash(into hasher: inout Hasher) {}
}
