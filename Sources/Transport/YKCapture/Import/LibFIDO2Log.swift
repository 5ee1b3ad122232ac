// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Parses the output of libfido2 (1.5 to 1.16) and its tools with `FIDO_DEBUG` or `-d`: `fido_tx: dev=0x…, cmd=0x10`,
/// then dumps such as `fido_tx: buf=0x…, len=1` and lines of sixteen bytes, `0000: 04`.
///
/// libfido2 logs what it sends over HID as a message without its channel, so its reports are reconstructed on the
/// channel that INIT allocated or that the reply arrives on. What it receives is logged report by report, except for
/// keepalives. Over a card, both directions are logged as APDUs, and the HID lines around them are skipped.
struct LibFIDO2Log {
    /// A dump being parsed.
    private struct Dump {
        let source: String
        let length: Int
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

    static func read(_ lines: LogLines, into book: inout SessionBook) throws(CaptureError) {
        var log = LibFIDO2Log()
        var last = 0
        for line in lines {
            try log.take(line, &book)
            last = line.number
        }
        for (name, device) in log.devices.sorted(by: { $0.key < $1.key }) {
            if let channel = device.channel { try log.send(from: name, on: channel, last, &book) }
        }
    }

    private mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if var dump, dump.bytes.count < dump.length {
            guard let row = Self.row(line) else { throw Self.short(dump, line) }
            dump.bytes += try line.bytes(row, "dump")
            guard dump.bytes.count <= dump.length else { throw Self.short(dump, line) }
            self.dump = dump
        } else if let place = line.text.firstRange(of: ": buf=") {
            guard let length = line.after(", len=")?.leadingNumber, length <= Self.limit else {
                throw CaptureError(line: line.number, "a dump without a length")
            }
            dump = Dump(source: String(line.text[..<place.lowerBound]), length: length)
        } else {
            return call(line)
        }
        guard let dump, dump.bytes.count == dump.length else { return }
        self.dump = nil
        try finish(dump, line, &book)
    }

    /// The hexadecimal bytes of a line such as `0016: 01 02 …`.
    private static func row(_ line: LogLine) -> Substring? {
        let offset = line.text.prefix { $0.isASCII && $0.isNumber }
        let rest = line.text.dropFirst(offset.count)
        return offset.count >= 4 && rest.hasPrefix(": ") ? rest.dropFirst(2) : nil
    }

    private static func short(_ dump: Dump, _ line: LogLine) -> CaptureError {
        CaptureError(line: line.number, "the dump of \(dump.source) does not have the announced \(dump.length) bytes")
    }

    /// Parses `fido_tx: dev=0x…, cmd=0x06` and `fido_rx: dev=0x…, cmd=0x06, ms=-1`.
    private mutating func call(_ line: LogLine) {
        guard let device = line.between("x: dev=", ", cmd=0x"), let digits = line.after(", cmd=0x") else { return }
        current = String(device)
        guard line.text.has("fido_tx: "), let number = UInt8(digits.prefix(2), radix: 16) else { return }
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
