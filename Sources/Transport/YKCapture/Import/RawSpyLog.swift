// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the output of libpcscspy: `THREAD@` and then a call `>|seconds|microseconds|NAME`, its arguments line by
/// line, and its end `<|seconds|microseconds|NAME|message|code`.
struct RawSpyLog: LogReader {
    private struct Call {
        var name: String
        var milliseconds: Double?
        var arguments: [(line: LogLine, text: Substring)] = []
    }

    /// The maximum number of a call's arguments that are kept; SCardTransmit has 9.
    private static let most = 16

    private var calls: [String: Call] = [:]
    private var readers: [String: String] = [:]

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard line.isRawSpy, let at = line.text.firstIndex(of: "@") else { return }
        let thread = String(line.text[..<at])
        let text = line.text[line.text.index(after: at)...]
        let parts = text.split(separator: "|", omittingEmptySubsequences: false)
        if parts[0] == ">", parts.count >= 4 {
            calls[thread] = Call(name: String(parts[3]), milliseconds: Self.time(parts))
        } else if parts[0] == "<", parts.count >= 6 {
            guard let call = calls.removeValue(forKey: thread) else { return }
            try finish(line, call, isSuccess: parts[5] == "0x00000000", &book)
        } else if calls[thread]?.arguments.count ?? .max < Self.most {
            calls[thread]?.arguments.append((line, text))
        }
    }

    private static func time(_ parts: [Substring]) -> Double? {
        guard let seconds = Double(parts[1]), let microseconds = Double(parts[2]) else { return nil }
        return seconds * 1000 + microseconds / 1000
    }

    private mutating func finish(
        _ line: LogLine, _ call: Call, isSuccess: Bool, _ book: inout SessionBook
    ) throws(CaptureError) {
        let arguments = call.arguments.map { String($0.text) }
        let label = readers[arguments.first ?? ""] ?? "card"
        switch call.name {
        case "SCardConnect" where isSuccess && arguments.count >= 7:
            readers[arguments[arguments.count - 2]] = arguments[1]
            book.reader(arguments[1])
            book.event(arguments[1], .powerOn, milliseconds: call.milliseconds)
        case "SCardTransmit" where isSuccess:
            guard arguments.count == 9 else {
                throw CaptureError(line: line.number, "SCardTransmit with \(arguments.count) arguments instead of 9")
            }
            let (sent, received) = (call.arguments[4], call.arguments[8])
            let command = try sent.line.bytes(sent.text, "command")
            let reply = try received.line.bytes(received.text, "reply")
            book.exchange(label, command: command, reply: reply, milliseconds: call.milliseconds)
        case "SCardTransmit":
            book.event(label, .fail, why: line.text.trimmed, milliseconds: call.milliseconds)
        case "SCardDisconnect", "SCardReconnect":
            let event = arguments.last.flatMap(SpyLog.event)
            if let event { book.event(label, event, milliseconds: call.milliseconds) }
        default: break
        }
    }
}

extension LogLine {
    /// Whether this is a line from libpcscspy: a hexadecimal thread number, then `@`.
    var isRawSpy: Bool {
        guard let at = text.utf8.firstIndex(of: UInt8(ascii: "@")), at != text.utf8.startIndex else { return false }
        return text.utf8[..<at].allSatisfy { (0x30...0x39).contains($0) || (0x41...0x46).contains($0) }
    }
}
