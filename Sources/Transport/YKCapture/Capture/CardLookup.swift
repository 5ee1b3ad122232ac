// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// The state of a host that splits commands differently from the recording: the chained parts it has sent, and the part
/// of a reply it has not fetched.
struct CardLookup: Sendable {
    /// The joined parts of a chain.
    private var chain: APDU?
    /// Whether a part was split differently from the recording.
    private var isCutAnew = false
    private var rest: [UInt8] = []
    private var end = StatusWord.ok

    /// How to handle a command.
    enum Step {
        /// A part of a chain; acknowledge it.
        case part
        /// The next part of a reply, in the form requested by the host.
        case piece([UInt8])
        /// A command with its chain joined; `isCutAnew` if the recording cannot have it in the same parts.
        case command(APDU, isCutAnew: Bool)
    }

    /// Processes a command. `isRecorded` says whether the recording contains this exact exchange.
    mutating func take(_ command: APDU, _ bytes: [UInt8], isRecorded: Bool) -> Step {
        if !rest.isEmpty, command.data.isEmpty, CardVocabularies.known.continuations.contains(command.ins) {
            return .piece(piece(command, bytes))
        }
        rest = []
        if chain?.chainHeader != command.chainHeader {
            chain = nil
            isCutAnew = false
        }
        var whole = command
        whole.data = (chain?.data ?? []) + command.data
        guard command.isPartOfChain, whole.data.count <= 1 << 20 else {
            defer { (chain, isCutAnew) = (nil, false) }
            whole.cla &= ~0x10
            return .command(whole, isCutAnew: isCutAnew)
        }
        chain = whole
        isCutAnew = isCutAnew || !isRecorded
        return .part
    }

    /// Returns the first part of a reply in the form that the command asks for.
    mutating func give(_ reply: ResponseAPDU, to command: APDU, _ bytes: [UInt8]) -> [UInt8] {
        rest = reply.data
        end = reply.status
        return piece(command, bytes)
    }

    private mutating func piece(_ command: APDU, _ bytes: [UInt8]) -> [UInt8] {
        let isExtended = bytes.count >= 7 && bytes[4] == 0
        var length = isExtended ? 65_536 : 256
        if case .bytes(let wanted) = command.le { length = min(length, Int(wanted)) }
        let piece = Array(rest.prefix(length))
        rest = Array(rest.dropFirst(length))
        guard !rest.isEmpty else { return ResponseAPDU(end, data: piece).encoded }
        // 6100 stands for 256 bytes or more.
        let left = rest.count < 256 ? UInt16(rest.count) : 0
        return ResponseAPDU(StatusWord(0x6100 | left), data: piece).encoded
    }
}

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

/// An OTP application that answers frames from a recording made by another tool.
struct FeatureLookup {
    /// A recorded frame and the key's answers to it.
    private struct Transaction {
        var frame: [UInt8]
        var mask: [UInt8]
        var answers: [[UInt8]] = []
        /// The line of a redacted answer.
        var overwritten: Int?
        var isUsed = false

        /// Whether another frame is the same request: same command, and same payload outside the redacted bytes.
        func matches(_ other: [UInt8]) -> Bool {
            (0..<(OTPFrame.payloadSize + 1)).allSatisfy { mask[$0] != 0 || frame[$0] == other[$0] }
        }
    }

    private var transactions: [Transaction] = []
    private var status: [UInt8]
    private var assembler = OTPFrame.Assembler()
    private var outgoing: [[UInt8]] = []

    init(_ capture: Capture) {
        var assembler = OTPFrame.Assembler()
        var masks = OTPFrame.Assembler()
        var first: [UInt8]?
        for event in capture.events {
            switch event.kind {
            case .featureSet(let report):
                guard report.count == OTPReport.size, case .whole(let frame)? = try? assembler.add(report) else {
                    _ = try? masks.add(Self.shown(event.commandMask, report.last ?? 0))
                    continue
                }
                guard case .whole(let mask)? = try? masks.add(Self.shown(event.commandMask, report[7])) else {
                    continue
                }
                transactions.append(Transaction(frame: frame, mask: mask))
            case .featureGot(let report):
                if first == nil, report.last == 0 { first = report }
                guard !transactions.isEmpty else { continue }
                transactions[transactions.count - 1].answers.append(report)
                let isOpen = event.replyMask.isEmpty || capture.header.keepsSecrets
                if !isOpen { transactions[transactions.count - 1].overwritten = event.line }
            default: continue
            }
        }
        status = first ?? OTPReport.status([]).encoded
    }

    /// A report with the same flags and number, and FF in place of redacted bytes.
    private static func shown(_ masks: [Capture.Event.Mask], _ flags: UInt8) -> [UInt8] {
        (0..<7).map { index in masks.contains { $0.offset <= index && index < $0.end } ? 0xFF : 0 } + [flags]
    }

    /// Processes a report; the last one of a frame makes its answers available.
    mutating func set(_ report: [UInt8], _ replay: CaptureReplay) throws(LinkError) {
        let progress = try lift(LinkError.malformed) { () throws(WireError) in try assembler.add(report) }
        guard case .whole(let frame) = progress else {
            if progress == .reset { outgoing = [] }
            return
        }
        guard let index = transactions.firstIndex(where: { !$0.isUsed && $0.matches(frame) }) else {
            throw .replay(.init(line: 0, reason: "the recording has no unused slot frame like this one"))
        }
        transactions[index].isUsed = true
        if let line = transactions[index].overwritten {
            throw .replay(.overwritten("the reply to the challenge", line: line))
        }
        outgoing = transactions[index].answers
    }

    /// The next report of an answer, or else the latest status.
    mutating func next() throws(LinkError) -> [UInt8] {
        guard !outgoing.isEmpty else { return status }
        let report = outgoing.removeFirst()
        if report.last == 0 { status = report }
        return report
    }
}
