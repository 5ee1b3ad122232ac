// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// A recorded command independent of its encoding: the joined parts of its chain, and its complete reply (ISO 7816-4
/// §5.3).
package struct CardTransaction: Sendable {
    /// The events it consists of, in order.
    private(set) var events: [Int]
    /// The event with the last part of the command and the first part of the reply.
    private(set) var asked: Int
    /// The command with all its data and without chaining bits.
    package private(set) var command: APDU
    /// The secret ranges of the data.
    private(set) var mask: [Capture.Event.Mask]
    /// Its complete reply.
    package private(set) var reply: ResponseAPDU

    /// Whether the whole reply was fetched.
    package var isWhole: Bool { reply.status.bytesRemaining == nil }

    /// All transactions of a recording, in order.
    package static func all(in capture: Capture) -> [CardTransaction] {
        var found: [CardTransaction] = []
        var chain: CardTransaction?
        var applet: (any CardVocabulary.Type)?
        for (index, event) in capture.events.enumerated() {
            guard case .exchange = event.kind, let next = CardTransaction(event, at: index) else {
                chain = nil
                continue
            }
            if next.command.continues(in: applet) {
                if found.last?.isWhole == false { found[found.count - 1].fetch(next) }
                continue
            }
            let whole = chain?.joined(next) ?? next
            chain = nil
            if next.isPart {
                if next.reply.status == .ok { chain = whole }
                continue
            }
            if next.command.isSelection, next.reply.status == .ok || !next.isWhole {
                applet = CardVocabularies.known.selected(by: next.command)
            }
            found.append(whole.complete)
        }
        return found
    }

    private init?(_ event: Capture.Event, at index: Int) {
        guard case .exchange(let bytes, let answer) = event.kind, let command = try? APDU(decoding: bytes),
            let reply = try? ResponseAPDU(decoding: answer)
        else { return nil }
        let start = APDU.dataOffset(bytes)
        events = [index]
        asked = index
        mask = event.commandMask.map { Capture.Event.Mask(offset: $0.offset - start, length: $0.length) }
        self.command = command
        self.reply = reply
    }

    private var isPart: Bool { command.isPartOfChain }

    private var complete: CardTransaction {
        var whole = self
        whole.command.cla &= ~0x10
        return whole
    }

    /// Appends another part to the chain; `nil` if it belongs to another command.
    private func joined(_ next: CardTransaction) -> CardTransaction? {
        guard command.chainHeader == next.command.chainHeader, command.data.count <= 1 << 20 else { return nil }
        var whole = next
        whole.events = events + next.events
        whole.command.data = command.data + next.command.data
        whole.mask =
            mask + next.mask.map { Capture.Event.Mask(offset: $0.offset + command.data.count, length: $0.length) }
        return whole
    }

    /// Appends a fetched part of the reply.
    private mutating func fetch(_ rest: CardTransaction) {
        events += rest.events
        reply = ResponseAPDU(rest.reply.status, data: reply.data + rest.reply.data)
    }

    /// Whether this command is the same outside the masked ranges.
    func matches(_ other: APDU) -> Bool {
        let mine = command.meaning
        let other = other.meaning
        return mine.chainHeader == other.chainHeader && mine.data.masked(mask) == other.data.masked(mask)
    }
}

extension APDU {
    /// Whether more parts of the same command follow (ISO 7816-4 §5.3.3). In a proprietary class, only CTAP uses this
    /// bit.
    var isPartOfChain: Bool { cla & 0x10 != 0 && (cla & 0x80 == 0 || ins == FIDOProtocol.Instruction.message) }

    /// The command without the fields that tools write differently: Le, the class of GET RESPONSE (CTAP accepts 00 and
    /// 80), and NFCCTAP_MSG's P1, which says only whether the host can poll (CTAP 2.2 §11.3.7.1).
    var meaning: APDU {
        var meaning = self
        meaning.le = .none
        if ins == ISO7816.getResponse { meaning.cla = 0x00 }
        if cla & ~0x10 == 0x80, ins == FIDOProtocol.Instruction.message { meaning.p1 = 0x00 }
        return meaning
    }
}
