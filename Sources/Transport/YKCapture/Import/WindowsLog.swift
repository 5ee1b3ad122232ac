// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the events of Windows' WebAuthN log about a card: `Request: 14 bytes` and a line `0x00A4…`,
/// `Response data: 8 bytes` and a line `0x4649…`, `Apdu Status: 0x9000`.
struct WindowsLog: LogReader {
    private var talk = CardTalk()
    private var expected: (isRequest: Bool, count: Int)?
    private var data: [UInt8] = []

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let name = line.after("Reader: "), !talk.isWaiting {
            talk.label = String(name).trimmed
            book.reader(talk.label)
        } else if let text = line.after("Request: "), text.has("bytes"), let count = text.leadingNumber {
            expected = (true, count)
        } else if let text = line.after("Response data: "), text.has("bytes"), let count = text.leadingNumber {
            expected = (false, count)
        } else if let digits = line.after("Apdu Status: ") {
            defer { (data, expected) = ([], nil) }
            let status = try line.bytes(digits, "status word")
            guard status.count == 2 else { throw CaptureError(line: line.number, "the status word has not two bytes") }
            guard expected == nil || expected?.count == 0 else {
                talk.lost("the reply is not in the log", &book)
                throw CaptureError(
                    line: line.number, "the reply does not have the announced \(expected?.count ?? 0) bytes")
            }
            try talk.received(data + status, line, &book)
        } else if let expected, let digits = line.after("0x") {
            self.expected = nil
            do throws(CaptureError) {
                let bytes = try line.bytes(digits, expected.isRequest ? "command" : "reply")
                guard bytes.count == expected.count else {
                    throw CaptureError(line: line.number, "\(bytes.count) bytes instead of \(expected.count)")
                }
                if expected.isRequest { try talk.sent(bytes, line, &book) } else { data = bytes }
            } catch {
                if expected.isRequest { talk.lost("no reply in the log", &book) } else { self.expected = expected }
                throw error
            }
        }
    }
}
