// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// One of the two places of the OTP application.
public enum OTPSlot: Int, Sendable, Hashable, CaseIterable {
    /// The one that a short touch triggers.
    case one = 1
    /// The one that a long touch triggers.
    case two = 2

    func command(_ first: OTPCommand, _ second: OTPCommand) -> OTPCommand { self == .one ? first : second }
}

/// What the application tells of a slot; `nil` where the firmware does not.
public struct OTPSlotState: Sendable, Hashable {
    /// Whether it is in use.
    public let isProgrammed: Bool?
    /// Whether it types when it is touched, rather than answer challenges.
    public let isTouchTriggered: Bool?

    init(_ status: OTPStatus, _ slot: OTPSlot) {
        isProgrammed = status.isProgrammed(slot.rawValue)
        isTouchTriggered = isProgrammed == false ? false : status.isTouchTriggered(slot.rawValue)
    }
}
