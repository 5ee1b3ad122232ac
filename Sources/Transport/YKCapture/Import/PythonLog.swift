// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the logs of ykman and python-fido2 at the traffic level:
/// `TRAFFIC 03:38:54.621 [ykman.pcsc.send_and_receive:97] SEND: 00a4…`, then the same with `RECV: … SW=9000`; and
/// `Level 5:fido2.hid:SEND: ffffffff86…`, then the same with `RECV: …`. python-fido2 0.9 and ykman 0.7 to 3 write the
/// bytes as `b'…'`.
///
/// HID reports are logged without their padding zeros. Neither tool names the device, so each CTAPHID channel becomes a
/// session.
struct PythonLog: LogReader {
    private var label = "ykman"
    private var talk = CardTalk()
    private var channels = HIDChannels()
    private var unnamed = Carrier.card

    /// The transport that a line is about.
    private enum Carrier {
        case card
        case reports
        case featureReports
    }

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let name = line.between("fingerprint='", "')"), line.text.has("SmartCard"), label == "ykman" {
            label = String(name)
            book.reader(label)
        }
        if line.text.has("_open_smartcard_connection") {
            talk = CardTalk()
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
        if name.has("pcsc") || name.has("driver_ccid") { return .card }
        if name.has("fido2.hid") { return .reports }
        if name.has("ykman.hid") { return .featureReports }
        guard !name.has("ykman"), !name.has("fido2.") else { return nil }
        if line.after("SEND: ffffffff86") != nil { unnamed = .reports }
        return unnamed
    }

    private mutating func card(_ line: LogLine, _ isSent: Bool, _ book: inout SessionBook) throws(CaptureError) {
        talk.label = label
        if isSent {
            try talk.sent(line.bytes(line.after("SEND: ") ?? "", "command"), line, at: Self.time(line), &book)
        } else {
            do { try talk.received(reply(line), line, &book) } catch {
                talk.lost("the reply cannot be read", &book)
                throw error
            }
        }
    }

    /// The reply with its status word, which ykman before 4 logs as a part of it.
    private func reply(_ line: LogLine) throws(CaptureError) -> [UInt8] {
        let text = line.after("RECV: ") ?? ""
        guard let place = text.firstRange(of: "SW=") else {
            guard text.hasPrefix("b'") || text.hasPrefix("b\"") else {
                throw CaptureError(line: line.number, "the reply has no status word in the log")
            }
            return try line.bytes(text, "reply")
        }
        let status = text[place.upperBound...].prefix { $0.isHexDigit }
        guard let word = Self.status(status) else {
            throw CaptureError(line: line.number, "'\(status.prefix(12))' is no status word")
        }
        return try line.bytes(text[..<place.lowerBound], "reply") + word
    }

    /// The bytes of a status word. python-fido2 0.9 to 1.2 shifts the first byte too far, by 8 and the second byte:
    /// `SW=C2000` stands for 6105.
    private static func status(_ digits: Substring) -> [UInt8]? {
        guard digits.utf8.count >= 4, digits.first != "0" else { return nil }
        if digits.utf8.count == 4, let word = try? Hex.decode(String(digits)), word[0].isFirstOfStatus { return word }
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        let significant = digits.dropLast(zeros)
        guard significant.utf8.count <= 3, let value = UInt32(significant, radix: 16), value > 0 else { return nil }
        let odd = value >> value.trailingZeroBitCount
        for shift in 0..<8 {
            let first = odd << shift
            let second = 4 * zeros + value.trailingZeroBitCount - shift - 8
            guard (0x61...0x6F).contains(first) || (0x90...0x9F).contains(first) else { continue }
            return UInt8(exactly: second).map { [UInt8(first), $0] }
        }
        return nil
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
