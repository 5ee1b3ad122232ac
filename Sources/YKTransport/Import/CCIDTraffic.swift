// SPDX-License-Identifier: Apache-2.0

/// Finds the APDUs of one card reader in its bulk transfers (USB CCID 1.1 §6): `XfrBlock` and `DataBlock`, which may come
/// in parts at either level, and what happens to the card's power.
struct CCIDTraffic {
    /// What was found.
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
    private var outgoing: [UInt8] = []
    private var incoming: [UInt8] = []
    /// The longest message: a header of ten bytes and an extended APDU.
    private static let limit = 10 + 65_544

    /// Whether a message has begun and is not whole.
    var isInMessage: Bool { !outgoing.isEmpty || !incoming.isEmpty }

    /// Takes what the host sent; gives the slot and what was found.
    mutating func sent(_ data: [UInt8]) -> (slot: UInt8, Finding)? {
        guard let message = Self.message(&outgoing, data, kinds: 0x61...0x73) else { return nil }
        let number = message[5]
        var slot = slots[number] ?? Slot()
        defer { slots[number] = slot }
        switch message[0] {
        case 0x62: slot = Slot(isPowering: true)
        case 0x63:
            slot = Slot()
            return (number, .event(.powerOff, why: nil))
        case 0x6F: return block(message, &slot).map { (number, $0) }
        default: break
        }
        return nil
    }

    /// A part of a command; wLevelParameter says whether it is the first, a middle one or the last (§6.1.4).
    private func block(_ message: [UInt8], _ slot: inout Slot) -> Finding? {
        let level = UInt16(message[8]) | UInt16(message[9]) << 8
        let isLost = slot.isAsked && (level == 0 || level == 1)
        if isLost { slot = Slot() }
        guard level <= 3, slot.command.count <= Self.limit else { return nil }
        slot.command += message[10...]
        slot.isAsked = level == 0 || level == 2
        return isLost ? .event(.fail, why: "no reply in the log") : nil
    }

    /// Takes what the reader sent.
    mutating func received(_ data: [UInt8]) -> (slot: UInt8, Finding)? {
        guard let message = Self.message(&incoming, data, kinds: 0x80...0x84), message[0] == 0x80 else { return nil }
        let number = message[5]
        var slot = slots[number] ?? Slot()
        defer { slots[number] = slot }
        let status = message[7] >> 6
        if status == 2 { return nil }  // The card wants more time.
        if slot.isPowering {
            slot = Slot()
            return status == 0 ? (number, .powered(atr: Array(message[10...]))) : nil
        }
        guard slot.isAsked else { return nil }
        if status != 0 {
            slot = Slot()
            let isGone = message[7] & 0x03 == 2
            return (number, .event(isGone ? .removed : .fail, why: isGone ? nil : "reader error \(message[8])"))
        }
        return reply(message, &slot).map { (number, $0) }
    }

    /// A part of a reply; bChainParameter says whether more is to come (§6.2.1).
    private func reply(_ message: [UInt8], _ slot: inout Slot) -> Finding? {
        guard message[9] <= 3, slot.reply.count <= Self.limit else { return nil }
        slot.reply += message[10...]
        guard message[9] == 0 || message[9] == 2 else { return nil }
        defer { slot = Slot() }
        return .exchange(command: slot.command, reply: slot.reply)
    }

    /// A message that is whole, from as many transfers as it takes; data of no message that is known is passed over.
    private static func message(
        _ open: inout [UInt8], _ data: [UInt8], kinds: ClosedRange<UInt8>
    ) -> [UInt8]? {
        if open.isEmpty, data.first.map(kinds.contains) != true { return nil }
        open += data
        guard open.count >= 10 else { return nil }
        let length = open[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit - 10, open.count <= 10 + length else {
            open = []
            return nil
        }
        guard open.count == 10 + length else { return nil }
        defer { open = [] }
        return open
    }
}
