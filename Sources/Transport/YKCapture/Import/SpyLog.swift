// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the output of `pcsc-spy`: a call's name, its arguments marked `i` (in) or `o` (out), and `=> …` with the
/// result. Each further thread is indented by four more spaces. The output of libpcscspy, which pcsc-spy reads, is also
/// accepted.
struct SpyLog: LogReader {
    /// A call that has not returned.
    private struct Call {
        var name: String
        var card = ""
        var reader: String?
        var disposition = ""
        var sent: [UInt8] = []
        var received: [UInt8] = []
        var sendLength: Int?
        var receiveLength: Int?
    }

    /// The maximum size of a command and its reply.
    private static let limit = 1 << 18

    private var calls: [Int: Call] = [:]
    private var readers: [String: String] = [:]

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        let indent = line.text.prefix { $0 == " " }.count
        let thread = indent / 4
        let text = line.text.dropFirst(indent)
        if text.hasPrefix("SCard") {
            calls[thread] = Call(name: text.trimmed)
        } else if text.hasPrefix("i ") || text.hasPrefix("o ") {
            try argument(line, thread, isOutput: text.hasPrefix("o "), text.dropFirst(2))
        } else if text.hasPrefix("=> ") {
            guard let call = calls.removeValue(forKey: thread) else { return }
            try finish(line, call, isSuccess: text.has("[0x00000000]"), &book)
        }
    }

    private mutating func argument(
        _ line: LogLine, _ thread: Int, isOutput: Bool, _ text: Substring
    ) throws(CaptureError) {
        guard var call = calls[thread] else { return }
        defer { calls[thread] = call }
        if text.first == " ", call.name == "SCardTransmit" {
            let bytes = try dump(line, text.dropFirst())
            guard call.sent.count + call.received.count <= Self.limit else {
                throw CaptureError(line: line.number, "a dump that is longer than any command and its reply")
            }
            if isOutput { call.received += bytes } else { call.sent += bytes }
            return
        }
        let words = text.split(separator: " ")
        guard words.count >= 2 else { return }
        switch words[0] {
        case "hCard:": call.card = String(words[1])
        case "phCard" where isOutput: call.card = String(words[1])
        case "szReader": call.reader = text.dropFirst("szReader".count).trimmed
        case "dwDisposition:", "dwInitialization:": call.disposition = String(words[1])
        case "bSendLength": call.sendLength = Int(words[1].dropFirst(2), radix: 16)
        case "bRecvLength": call.receiveLength = Int(words[1].dropFirst(2), radix: 16)
        default: break
        }
    }

    /// Parses a line of a dump: a four-digit offset, up to sixteen bytes, the same as text.
    private func dump(_ line: LogLine, _ text: Substring) throws(CaptureError) -> [UInt8] {
        let digits = text.dropFirst(5).prefix(48)
        return try line.bytes(digits, "dump")
    }

    private mutating func finish(
        _ line: LogLine, _ call: Call, isSuccess: Bool, _ book: inout SessionBook
    ) throws(CaptureError) {
        let label = readers[call.card] ?? "card"
        switch call.name {
        case "SCardConnect" where isSuccess:
            let reader = call.reader ?? "card"
            readers[call.card] = reader
            book.reader(reader)
            book.event(reader, .powerOn, milliseconds: nil)
        case "SCardTransmit":
            guard isSuccess else {
                return book.event(label, .fail, why: line.text.trimmed, milliseconds: nil)
            }
            guard call.sendLength == call.sent.count, call.receiveLength == call.received.count else {
                throw CaptureError(line: line.number, "the dump of an exchange is not as long as the log says")
            }
            book.exchange(label, command: call.sent, reply: call.received, milliseconds: nil)
        case "SCardDisconnect", "SCardReconnect":
            if let event = Self.event(call.disposition) { book.event(label, event, milliseconds: nil) }
        default: break
        }
    }

    static func event(_ disposition: String) -> Capture.Event.LinkEvent? {
        switch disposition {
        case "SCARD_RESET_CARD", "0x00000001": .reset
        case "SCARD_UNPOWER_CARD", "0x00000002": .powerOff
        default: nil
        }
    }
}
