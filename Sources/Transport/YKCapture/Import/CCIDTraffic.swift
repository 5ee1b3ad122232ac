// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Finds the APDUs of a card reader in its bulk transfers (USB CCID 1.1 §6): `XfrBlock` and `DataBlock`, either of
/// which may be split, and changes of the card's power.
struct CCIDTraffic {
    /// A finding.
    enum Finding {
        case exchange(command: [UInt8], reply: [UInt8])
        case powered(atr: [UInt8])
        case event(Capture.Event.LinkEvent, why: String?)
    }

    private struct Slot {
        var command: [UInt8] = []
        var isAsked = false
        var reply: [UInt8] = []
        var isPowering = false
    }

    private var slots: [UInt8: Slot] = [:]
    private var outgoing = CCID.Assembler()
    private var incoming = CCID.Assembler()

    /// Whether a message has begun and is incomplete.
    var isInMessage: Bool { outgoing.isInMessage || incoming.isInMessage }

    /// Processes a transfer from the host; returns the slot and the finding.
    mutating func sent(_ data: [UInt8]) -> (slot: UInt8, Finding)? {
        guard let message = Self.message(&outgoing, data, kinds: 0x61...0x73),
            let command = try? CCID.Command(decoding: message)
        else { return nil }
        var slot = slots[command.slot] ?? Slot()
        defer { slots[command.slot] = slot }
        switch command.kind {
        case .powerOn: slot = Slot(isPowering: true)
        case .powerOff:
            slot = Slot()
            return (command.slot, .event(.powerOff, why: nil))
        case .transfer: return block(command, &slot).map { (command.slot, $0) }
        default: break
        }
        return nil
    }

    /// Processes a part of a command; wLevelParameter says whether it is the first, a middle or the last one (§6.1.4).
    private func block(_ command: CCID.Command, _ slot: inout Slot) -> Finding? {
        let chain = CCID.Chain(rawValue: command.level)
        let isLost = slot.isAsked && (chain == .whole || chain == .begin)
        if isLost { slot = Slot() }
        guard let chain, chain != .proceed, slot.command.count <= CCID.dataLimit else { return nil }
        slot.command += command.data
        slot.isAsked = chain == .whole || chain == .end
        return isLost ? .event(.fail, why: "no reply in the log") : nil
    }

    /// Processes a transfer from the reader.
    mutating func received(_ data: [UInt8]) -> (slot: UInt8, Finding)? {
        guard let message = Self.message(&incoming, data, kinds: 0x80...0x84),
            let reply = try? CCID.Reply(decoding: message), reply.kind == .dataBlock, reply.outcome != .moreTime
        else { return nil }
        var slot = slots[reply.slot] ?? Slot()
        defer { slots[reply.slot] = slot }
        if slot.isPowering {
            slot = Slot()
            return reply.outcome == .done ? (reply.slot, .powered(atr: reply.data)) : nil
        }
        guard slot.isAsked else { return nil }
        if reply.outcome != .done {
            slot = Slot()
            let isGone = reply.card == .absent
            let why = "reader error \(reply.error.rawValue)"
            return (reply.slot, .event(isGone ? .removed : .fail, why: isGone ? nil : why))
        }
        return response(reply, &slot).map { (reply.slot, $0) }
    }

    /// Processes a part of a reply; bChainParameter says whether more parts follow (§6.2.1).
    private func response(_ reply: CCID.Reply, _ slot: inout Slot) -> Finding? {
        guard let chain = reply.chain, chain != .proceed, slot.reply.count <= CCID.dataLimit else { return nil }
        slot.reply += reply.data
        guard chain == .whole || chain == .end else { return nil }
        defer { slot = Slot() }
        return .exchange(command: slot.command, reply: slot.reply)
    }

    /// Assembles a complete message from its transfers; data that belongs to no known message is skipped.
    private static func message(
        _ open: inout CCID.Assembler, _ data: [UInt8], kinds: ClosedRange<UInt8>
    ) -> [UInt8]? {
        if !open.isInMessage, data.first.map(kinds.contains) != true { return nil }
        return (try? open.add(data)) ?? nil
    }
}

/// Reads the messages between libccid and a reader in a log of pcscd with `LIBCCID_ifdLogLevel`: `-> 000001 6F …` and
/// `<- 000001 80 …`.
struct CCIDLog {
    private var traffic: [String: CCIDTraffic] = [:]
    /// Whether the reader works with blocks of T=1, which are not APDUs.
    private var isInBlocks = false

    mutating func take(_ line: LogLine, _ time: Double?, _ book: inout SessionBook) throws(CaptureError) {
        if line.text.has("CmdXfrBlock") { isInBlocks = line.text.has("TPDU_T1") }
        let isSent = line.text.has("-> ")
        guard isSent || line.text.has("<- "), let rest = line.after(isSent ? "-> " : "<- ") else { return }
        let number = rest.prefix { $0.isHexDigit }
        guard number.utf8.count == 6, rest.dropFirst(6).first == " " else { return }
        let bytes = try line.bytes(rest.dropFirst(7), "message to the reader")
        let label = "reader \(number)"
        let finding =
            isSent
            ? traffic[label, default: CCIDTraffic()].sent(bytes)
            : traffic[label, default: CCIDTraffic()].received(bytes)
        guard let finding else { return }
        switch finding.1 {
        case .exchange(let command, let reply):
            guard !isInBlocks else {
                throw CaptureError(line: line.number, "the reader exchanges blocks of T=1, which are not read")
            }
            book.exchange(label, command: command, reply: reply, milliseconds: time)
        case .powered(let atr):
            book.reader(label, atr: atr)
            book.event(label, .powerOn, milliseconds: time)
        case .event(let event, let why): book.event(label, event, why: why, milliseconds: time)
        }
    }
}
