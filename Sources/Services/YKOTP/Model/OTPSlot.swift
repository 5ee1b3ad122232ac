// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// One of the two slots of the OTP application.
public enum OTPSlot: Int, Sendable, Hashable, CaseIterable {
    /// The slot triggered by a short touch.
    case one = 1
    /// The slot triggered by a long touch.
    case two = 2

    func command(_ first: OTPCommand, _ second: OTPCommand) -> OTPCommand { self == .one ? first : second }
}

/// The reported state of a slot; `nil` if the firmware does not report it.
public struct OTPSlotState: Sendable, Hashable {
    /// Whether it is in use.
    public let isProgrammed: Bool?
    /// Whether it types when touched, rather than answering challenges.
    public let isTouchTriggered: Bool?

    init(_ status: OTPStatus, _ slot: OTPSlot) {
        isProgrammed = status.isProgrammed(slot.rawValue)
        isTouchTriggered = isProgrammed == false ? false : status.isTouchTriggered(slot.rawValue)
    }
}
