// SPDX-License-Identifier: Apache-2.0

/// Parses GnuPG's scdaemon with `debug cardio`: `DBG:  raw apdu: 00 CA …` or `PCSC_data: …`, then
/// `DBG:  response: sw=9000  datalen=217` and, if there is data, `DBG:  dump: 4F …`. The rest of a long reply follows as
/// `more: sw=…`.
struct ScdaemonLog: LogReader {
    private var talk = CardTalk()
    private var status: [UInt8]?
    private var length = 0
    private var data: [UInt8] = []
    private var isDumping = false

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let digits = line.after("ATR=") {
            book.commonATR = try? line.bytes(digits, "answer to reset")
        } else if let name = line.between("detected reader '", "'"), talk.label == "card" {
            talk.label = String(name)
            book.reader(talk.label)
        } else if let digits = line.after("raw apdu: ") ?? line.after("PCSC_data: ") {
            try end(line, &book)
            try talk.sent(line.bytes(digits, "command"), line, &book)
        } else if let text = line.after("response: sw=") {
            try end(line, &book)
            try begin(line, text)
        } else if let text = line.after("more: sw="), status != nil {
            try begin(line, text)
        } else if let digits = line.after("dump: ") ?? (line.text.hasSuffix("dump:") ? "" : nil), status != nil {
            isDumping = true
            try add(line, digits)
        } else if isDumping, data.count < length, let digits = line.text.split(separator: "]").last {
            // A long dump goes on in the next line.
            if digits.allSatisfy({ $0.isHexDigit || $0 == " " || $0 == "\\" }), digits.contains(where: \.isHexDigit) {
                try add(line, digits)
            }
        }
    }

    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError) {
        try end(LogLine(number: last, text: ""), &book)
    }

    private mutating func begin(_ line: LogLine, _ text: Substring) throws(CaptureError) {
        let word = text.prefix { $0.isHexDigit }
        guard word.utf8.count == 4, let announced = text.firstRange(of: "datalen="),
            let count = text[announced.upperBound...].leadingNumber, count <= 1 << 17
        else { throw CaptureError(line: line.number, "the reply has no status word in the log") }
        status = try line.bytes(word, "status word")
        length = data.count + count
        isDumping = false
    }

    private mutating func add(_ line: LogLine, _ digits: Substring) throws(CaptureError) {
        let plain = digits.prefix { $0 != "\\" }
        guard plain.contains(where: \.isHexDigit) else { return }
        data += try line.bytes(plain, "reply")
    }

    private mutating func end(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard let status else { return }
        defer { (self.status, data, length, isDumping) = (nil, [], 0, false) }
        guard data.count == length else {
            talk.lost("the reply is not in the log", &book)
            throw CaptureError(line: line.number, "the reply has \(data.count) of its \(length) bytes")
        }
        try talk.received(data + status, line, &book)
    }
}
