// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses OpenSC's debug log, `Outgoing APDU (5 bytes):` or `Outgoing APDU data [    5 bytes] ====`, then rows of up to
/// sixteen bytes and the same as text; and what `opensc-tool -s` and `piv-tool -s` print: `Sending: 00 CB …`, then
/// `Received (SW1=0x90, SW2=0x00):` and rows.
struct OpenSCLog: LogReader {
    private enum Source {
        case command
        case reply
        /// A reply whose length is not announced; its status word comes first.
        case received(status: [UInt8])
    }

    private var talk = CardTalk()
    private var source: Source?
    private var length = 0
    private var bytes: [UInt8] = []
    /// The maximum size of a dump.
    private static let limit = 1 << 17

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        if let name = line.after("Using reader with a card: ") {
            rename(name, &book)
        } else if line.text.has("reader '"), let name = line.between("reader '", "'") {
            rename(name, &book)
        }
        if try begin(line, &book) { return }
        guard let source else { return }
        if case .received = source {
            guard let row = line.shownRow(of: nil) else { return }
            bytes += row
            guard bytes.count <= Self.limit else { throw CaptureError(line: line.number, "a dump without end") }
            return
        }
        guard let row = line.shownRow(of: min(16, length - bytes.count)) else { return }
        bytes += row
        if bytes.count == length { try end(line, &book) }
    }

    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError) {
        try end(LogLine(number: last, text: ""), &book)
    }

    private mutating func rename(_ name: Substring, _ book: inout SessionBook) {
        guard !talk.isWaiting, !name.isEmpty else { return }
        talk.label = String(name).trimmed
        book.reader(talk.label)
    }

    /// Whether the line begins a command or reply; what began before ends.
    private mutating func begin(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) -> Bool {
        let isCommand = line.text.has("Outgoing APDU")
        if isCommand || line.text.has("Incoming APDU") {
            let rest = line.after("coming APDU") ?? line.after("going APDU") ?? ""
            let count = rest.drop { !$0.isNumber }.leadingNumber ?? 0
            defer { (source, length, bytes) = (isCommand ? Source.command : Source.reply, count, []) }
            try end(line, &book)
            guard count > 0, count <= Self.limit, rest.has("bytes") else {
                throw CaptureError(line: line.number, "a dump without a length")
            }
            return true
        }
        if let digits = line.after("Sending: ") {
            try end(line, &book)
            try talk.sent(line.bytes(digits, "command"), line, &book)
            return true
        }
        guard let status = line.between("Received (SW1=0x", ")") else { return false }
        try end(line, &book)
        let words = status.split(separator: ",")
        guard words.count == 2, let first = words[0].hexByte,
            let second = String(words[1]).trimmed.dropFirst("SW2=0x".count).hexByte
        else { throw CaptureError(line: line.number, "the reply has no status word in the log") }
        source = .received(status: [first, second])
        bytes = []
        return true
    }

    private mutating func end(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard let source else { return }
        self.source = nil
        switch source {
        case .received(let status): try talk.received(bytes + status, line, &book)
        case .command, .reply:
            guard bytes.count == length else {
                if case .reply = source { talk.lost("the reply cannot be read", &book) }
                throw CaptureError(line: line.number, "the dump does not have the announced \(length) bytes")
            }
            if case .command = source {
                try talk.sent(bytes, line, &book)
            } else {
                try talk.received(bytes, line, &book)
            }
        }
    }
}
