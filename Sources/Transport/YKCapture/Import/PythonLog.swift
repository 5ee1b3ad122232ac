// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Parses the logs of ykman and python-fido2 at the traffic level:
/// `TRAFFIC 03:38:54.621 [ykman.pcsc.send_and_receive:97] SEND: 00a4…`, then the same with `RECV: … SW=9000`; and
/// `Level 5:fido2.hid:SEND: ffffffff86…`, then the same with `RECV: …`.
///
/// HID reports are logged without their padding zeros. Neither tool names the device, so each CTAPHID channel becomes a
/// session.
struct PythonLog {
    private var label = "ykman"
    private var pending: (bytes: [UInt8], milliseconds: Double?)?
    private var channels = HIDChannels()
    private var unnamed = Carrier.card

    /// The transport that a line is about.
    private enum Carrier {
        case card
        case reports
        case featureReports
    }

    static func read(_ lines: LogLines, into book: inout SessionBook) throws(CaptureError) {
        var log = PythonLog()
        for line in lines { try log.take(line, &book) }
    }

    private mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let name = line.between("fingerprint='", "')"), line.text.has("SmartCard"), label == "ykman" {
            label = String(name)
            book.reader(label)
        }
        if line.text.has("_open_smartcard_connection") {
            pending = nil
            book.event(label, .powerOn, milliseconds: Self.time(line))
        }
        let isSent = line.text.firstRange(of: "SEND: ") != nil
        guard isSent || line.text.firstRange(of: "RECV: ") != nil, let carrier = carrier(line, isSent) else { return }
        switch carrier {
        case .card: try card(line, isSent, &book)
        case .reports: try report(line, isSent, &book)
        case .featureReports: try featureReport(line, isSent, &book)
        }
    }

    /// The transport according to the logger's name; a line without one uses the transport that the log started with.
    private mutating func carrier(_ line: LogLine, _ isSent: Bool) -> Carrier? {
        let name = line.text.firstRange(of: isSent ? "SEND: " : "RECV: ").map { line.text[..<$0.lowerBound] } ?? ""
        if name.has("pcsc") { return .card }
        if name.has("fido2.hid") { return .reports }
        if name.has("ykman.hid") { return .featureReports }
        guard !name.has("ykman"), !name.has("fido2.") else { return nil }
        if line.after("SEND: ffffffff86") != nil { unnamed = .reports }
        return unnamed
    }

    private mutating func card(_ line: LogLine, _ isSent: Bool, _ book: inout SessionBook) throws(CaptureError) {
        let time = Self.time(line)
        if isSent, let digits = line.after("SEND: ") {
            if pending != nil { book.event(label, .fail, why: "no reply in the log", milliseconds: time) }
            pending = (try line.bytes(digits, "command"), time)
        } else if let digits = line.between("RECV: ", "SW="), let status = line.after("SW=") {
            let reply = try line.bytes(digits, "reply") + line.bytes(status, "status word")
            guard let command = pending else {
                throw CaptureError(line: line.number, "a reply without a command before it")
            }
            book.exchange(label, command: command.bytes, reply: reply, milliseconds: command.milliseconds)
            pending = nil
        }
    }

    private mutating func report(_ line: LogLine, _ isSent: Bool, _ book: inout SessionBook) throws(CaptureError) {
        var bytes = try line.bytes(line.after(isSent ? "SEND: " : "RECV: ") ?? "", "report")
        guard bytes.count >= 5 else { throw CaptureError(line: line.number, "a report of \(bytes.count) bytes") }
        bytes += [UInt8](repeating: 0, count: max(0, CTAPHID.reportSize - bytes.count))
        channels.take(isSent ? .written(bytes) : .delivered(bytes), bytes, Self.time(line), &book)
    }

    private func featureReport(_ line: LogLine, _ isSent: Bool, _ book: inout SessionBook) throws(CaptureError) {
        let bytes = try line.bytes(line.after(isSent ? "SEND: " : "RECV: ") ?? "", "report")
        book.report("slots", isSent ? .featureSet(bytes) : .featureGot(bytes), milliseconds: Self.time(line))
    }

    /// The time of day in milliseconds. The digits after the dot count milliseconds; they are not a fraction.
    private static func time(_ line: LogLine) -> Double? {
        for word in line.text.split(separator: " ", maxSplits: 3) {
            let parts = word.split { $0 == ":" || $0 == "." || $0 == "," }.map { Int($0) }
            guard parts.count == 4, let hours = parts[0], let minutes = parts[1], let seconds = parts[2],
                let milliseconds = parts[3], (0..<24).contains(hours), (0..<60).contains(minutes),
                (0...60).contains(seconds), (0..<1000).contains(milliseconds)
            else { continue }
            return Double(((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds)
        }
        return nil
    }
}
