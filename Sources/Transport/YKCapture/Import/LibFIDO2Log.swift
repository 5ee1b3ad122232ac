// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the output of libfido2 (1.0 to 1.16) and its tools with `FIDO_DEBUG` or `-d`: `fido_tx: dev=0x…, cmd=0x10`,
/// then dumps such as `fido_tx: buf=0x…, len=1` and rows of sixteen bytes, `0000: 04`.
///
/// 1.4 to 1.6 write `fido_tx: d=0x…, cmd=0x10, buf=0x…, count=1` and `rx: continuation frame at 0x…`; before, the rows
/// have no offset. Other lines may come between the rows of a dump, and any text before a row.
///
/// libfido2 logs what it sends over HID as a message without its channel, so its reports are reconstructed on the
/// channel that INIT allocated or that the reply arrives on. What it receives is logged report by report, except for
/// keepalives. Over a card, both directions are logged as APDUs, and the HID lines around them are skipped.
struct LibFIDO2Log: LogReader {
    /// A dump being parsed.
    private struct Dump {
        let source: String
        let length: Int
        /// The line that announces it.
        let line: Int
        var hasOffsets = true
        var bytes: [UInt8] = []
    }

    private struct Device {
        var channel: [UInt8]?
        /// The messages sent since the last report was received.
        var sent: [(command: CTAPHID.Command, payload: [UInt8])] = []
        /// A card command without a reply yet.
        var command: [UInt8]?
    }

    private var devices: [String: Device] = [:]
    private var current = "device"
    private var command = CTAPHID.Command.cbor
    private var dump: Dump?
    /// The maximum size of a dump; no message or APDU is longer.
    private static let limit = 1 << 17
    /// The maximum number of messages that are sent before a report is received.
    private static let unanswered = 256

    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError) {
        if let dump {
            self.dump = nil
            book.skip(Self.short(dump))
        }
        for (name, device) in devices.sorted(by: { $0.key < $1.key }) {
            if let channel = device.channel { try send(from: name, on: channel, last, &book) }
        }
    }

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let begun = try begin(line) {
            if let dump { book.skip(Self.short(dump)) }
            dump = begun
        } else if var dump {
            let count = min(16, dump.length - dump.bytes.count)
            if let row = line.row(of: count, at: dump.hasOffsets ? dump.bytes.count : nil) {
                dump.bytes += row
                self.dump = dump
            } else if Self.marks.contains(where: line.text.has) || Self.isRow(line, at: dump.bytes.count) {
                self.dump = nil
                call(line)
                throw Self.short(dump)
            }
        } else {
            return call(line)
        }
        guard let dump, dump.bytes.count == dump.length else { return }
        self.dump = nil
        try finish(dump, line, &book)
    }

    /// The dump that a line announces.
    private mutating func begin(_ line: LogLine) throws(CaptureError) -> Dump? {
        let text = line.text
        if let place = text.firstRange(of: ": buf=") {
            return try announced(line, text[..<place.lowerBound], line.after(", len="))
        }
        if let place = text.firstRange(of: "initiation frame at ") ?? text.firstRange(of: "continuation frame at ") {
            let length = line.after(", len ")
            var dump = try announced(line, text[..<place.lowerBound], length ?? "64")
            dump.hasOffsets = length == nil
            return dump
        }
        guard let place = text.firstRange(of: "tx: d="), text.has(", buf="), text.has(", cmd=0x") else { return nil }
        call(line)
        let isOld = !text[..<place.lowerBound].hasSuffix("fido_")
        var dump = try announced(line, "fido_tx", line.after(", count=") ?? line.after(", len="))
        dump.hasOffsets = !isOld
        return dump
    }

    private func announced(
        _ line: LogLine, _ source: Substring, _ length: Substring?
    ) throws(CaptureError) -> Dump {
        guard let length = length?.leadingNumber, length <= Self.limit else {
            throw CaptureError(line: line.number, "a dump without a length")
        }
        return Dump(source: String(source), length: length, line: line.number)
    }

    /// What libfido2's own lines have, other than rows.
    private static let marks = ["fido_tx: ", "fido_rx: ", "rx_preamble: ", "rx: payload", "_read: ", "_write: "]

    /// Whether this is a row with that offset, whatever follows it.
    private static func isRow(_ line: LogLine, at offset: Int) -> Bool {
        let digits = String(offset)
        return line.text.has(String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ": ")
    }

    private static func short(_ dump: Dump) -> CaptureError {
        let source = dump.source.split { $0 == " " || $0 == ":" }.last ?? ""
        return CaptureError(
            line: dump.line, "the dump of \(source) does not have the announced \(dump.length) bytes")
    }

    /// Parses `fido_tx: dev=0x…, cmd=0x06` and `fido_rx: dev=0x…, cmd=0x06, ms=-1`.
    private mutating func call(_ line: LogLine) {
        guard let device = line.between("x: dev=", ", cmd=0x") ?? line.between("x: d=", ", cmd=0x"),
            let digits = line.after(", cmd=0x")
        else { return }
        current = String(device)
        guard line.text.has("tx: "), let number = UInt8(digits.prefix(2), radix: 16) else { return }
        command = CTAPHID.Command(rawValue: number & 0x7F)
    }

    private mutating func finish(
        _ dump: Dump, _ line: LogLine, _ book: inout SessionBook
    ) throws(CaptureError) {
        let words = dump.source.split { $0 == ":" || $0 == " " }
        switch words.last {
        case "fido_tx":
            guard devices[current]?.sent.count ?? 0 < Self.unanswered else {
                throw CaptureError(line: line.number, "more than \(Self.unanswered) messages without a reply")
            }
            devices[current, default: Device()].sent.append((command, dump.bytes))
        case "rx_preamble", "rx": try received(dump.bytes, line, &book)
        case "writing", "fido_nfc_write": devices[current, default: Device()].command = dump.bytes
        case "read", "reading", "fido_nfc_read": replied(dump.bytes, &book)
        default: break
        }
    }

    private mutating func received(
        _ report: [UInt8], _ line: LogLine, _ book: inout SessionBook
    ) throws(CaptureError) {
        guard report.count >= 24 else { throw CaptureError(line: line.number, "a report of \(report.count) bytes") }
        try send(from: current, on: Array(report.prefix(4)), line.number, &book)
        book.report(Self.label(current), .delivered(report), milliseconds: nil)
        if report[4] == 0x80 | CTAPHID.Command.initialize.rawValue {
            devices[current, default: Device()].channel = Array(report[15..<19])
        }
    }

    /// Writes the messages sent since the last report was received.
    private mutating func send(
        from name: String, on channel: [UInt8], _ line: Int, _ book: inout SessionBook
    ) throws(CaptureError) {
        for (command, payload) in devices[name]?.sent ?? [] {
            let known = command == .initialize ? CTAPHID.Channel.broadcast.bytes : devices[name]?.channel ?? channel
            let number = known.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let message = CTAPHID.Message(command, on: .init(rawValue: number), payload)
            let reports = try lift({ (error: WireError) in CaptureError(line: line, "\(error)") }) {
                () throws(WireError) in try message.reports()
            }
            for report in reports { book.report(Self.label(name), .written(report), milliseconds: nil) }
        }
        devices[name]?.sent = []
    }

    /// Handles a card's reply, which is logged twice: when it is read and when it is passed on.
    private mutating func replied(_ reply: [UInt8], _ book: inout SessionBook) {
        guard let command = devices[current]?.command else { return }
        book.exchange("card \(current)", command: command, reply: reply, milliseconds: nil)
        devices[current]?.command = nil
    }

    private static func label(_ name: String) -> String { "HID \(name)" }
}
