// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Sends a command that nobody needs before each one that follows a long reply: YubiKey 4 with firmware 4.2.0 to 4.2.6 in
/// a USB port does not notice a touch then (ykman 5.9.2, which does so within two seconds).
package final class TouchQuirk: CardStage {
    private let next: any CardStage
    /// Whether this key has it.
    package var isMet = false
    private var wasLong = false

    /// The longest reply, in bytes, that does no harm.
    private static let longest = 54

    package init(next: any CardStage) { self.next = next }

    /// Whether firmware of this version has it.
    package static func concerns(_ firmware: Version) -> Bool {
        firmware >= Version(4, 2, 0) && firmware <= Version(4, 2, 6)
    }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        if isMet, wasLong { _ = try next.send(APDU(ins: 0), deadline: deadline) }
        wasLong = false
        let response = try next.send(command, deadline: deadline)
        wasLong = response.data.count > Self.longest
        return response
    }
}
