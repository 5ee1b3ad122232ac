// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Sends a dummy command before each command that follows a long reply: a YubiKey 4 with firmware 4.2.0 to 4.2.6 in a
/// USB port would otherwise miss a touch (ykman 5.9.2 does the same within two seconds).
package final class TouchQuirk: CardStage {
    private let next: any CardStage
    /// Whether this key has the quirk.
    package var isEnabled = false
    private var wasLong = false

    /// The longest reply that does not trigger the quirk, in bytes.
    private static let longest = 54

    package init(next: any CardStage) { self.next = next }

    /// Whether this firmware version has the quirk.
    package static func affects(_ firmware: FirmwareVersion) -> Bool {
        firmware >= FirmwareVersion(4, 2, 0) && firmware <= FirmwareVersion(4, 2, 6)
    }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        if isEnabled, wasLong { _ = try next.send(APDU(ins: 0), deadline: deadline) }
        wasLong = false
        let response = try next.send(command, deadline: deadline)
        wasLong = response.data.count > Self.longest
        return response
    }
}
