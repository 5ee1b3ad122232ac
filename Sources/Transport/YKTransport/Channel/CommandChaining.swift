// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// Splits a command whose data is too long into several commands, all but the last with class bit 0x10 (ISO 7816-4
/// §5.3.3). Switches to the short form when the card refuses the first extended command with 6700, or, for a command that
/// may be repeated, when its exchange breaks off (``takesShortForm()``).
package final class CommandChaining: CardStage {
    private let next: EncodingStage
    /// The longest extended command APDU that card and reader accept, in bytes.
    package var extendedLimit = 3062

    /// Whether an extended command has been accepted; until then 6700 or a broken exchange can mean that the card, or its
    /// reader, supports only the short form.
    /// SELECT proves nothing: some cards accept it in extended form, and no other command.
    private var isExtendedProven = false

    package init(next: EncodingStage) { self.next = next }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let response = try sendParts(of: command, deadline: deadline)
        guard response.status == .wrongLength else {
            isExtendedProven = isExtendedProven || next.form == .extended && !command.isSelect
            return response
        }
        return takesShortForm() ? try sendParts(of: command, deadline: deadline) : response
    }

    /// Switches to the short form unless an extended command has been accepted, and returns whether it did.
    func takesShortForm() -> Bool {
        guard next.form == .extended, !isExtendedProven else { return false }
        next.form = .short
        return true
    }

    private func sendParts(of command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        let limit = next.form == .short ? APDU.shortDataLimit : max(APDU.shortDataLimit, extendedLimit - 9)
        var rest = command.data[...]
        while rest.count > limit {
            let block = APDU(
                cla: command.cla | 0x10, ins: command.ins, p1: command.p1, p2: command.p2,
                data: Array(rest.prefix(limit)), le: .none)
            let response = try next.send(block, deadline: deadline)
            guard response.status == .ok else { return response }
            rest = rest.dropFirst(limit)
        }
        var last = command
        last.data = Array(rest)
        return try next.send(last, deadline: deadline)
    }
}

extension APDU {
    /// Whether it selects an application by name; CALCULATE ALL of OATH has the same instruction.
    fileprivate var isSelect: Bool { ins == ISO7816.select && p1 == 0x04 }
}
