// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The lowest stage: encodes a command in short or extended form, and on 6Cxx repeats it once with the Le that the card
/// requests (ISO 7816-4 §5.1.3).
package final class EncodingStage: CardStage {
    package let link: any CardLink
    package var form: APDU.Form = .short
    /// The number of exchanges.
    package private(set) var exchanges = 0

    package init(link: any CardLink) { self.link = link }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let response = try exchange(command, deadline: deadline)
        guard let length = response.status.correctLe, response.data.isEmpty, command.le != .none, !command.isProtected
        else {
            return response
        }
        var corrected = command
        corrected.le = .bytes(UInt16(truncatingIfNeeded: length))
        return try exchange(corrected, deadline: deadline)
    }

    private func exchange(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let bytes: [UInt8]
        do { bytes = try command.encoded(form) } catch { throw .tooLong(during: command.label) }
        exchanges += 1
        let reply = try lift(CardError.link) { () throws(LinkError) in
            try deadline.check(command.label)
            return try link.exchange(bytes, deadline: deadline)
        }
        return try lift({ CardError.link(.malformed($0)) }) { () throws(WireError) in
            try ResponseAPDU(decoding: reply)
        }
    }
}

extension APDU {
    /// Whether it carries a secure channel's MAC, and so cannot be repeated.
    package var isProtected: Bool { cla & 0x04 != 0 }

    /// The header in hexadecimal, as the name of a command without a better one.
    package var label: String { "command \(Hex.encode([cla, ins, p1, p2]))" }
}
