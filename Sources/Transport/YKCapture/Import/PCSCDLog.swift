// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the log of `pcscd --apdu`, with or without `--debug`: `00000003 APDU: 00 A4 …`, then `00047007 SW: 90 00`.
/// The number is the time since the previous line in microseconds.
///
/// With `--debug`, the surrounding lines name the client of an exchange (pcsc-lite 1.9.9): `Received command: TRANSMIT
/// from client 8` before a command, `TRANSMIT for client 8, rv=…` after its reply. Newer versions name the thread in
/// brackets. Without these lines, everything is attributed to one card. A log with `LIBCCID_ifdLogLevel` but without
/// `--apdu` has only the messages to the reader (`CCIDLog`).
struct PCSCDLog: LogReader {
    private struct Client {
        var reader: String?
        var command: (bytes: [UInt8], line: Int, milliseconds: Double?)?
        var reply: [UInt8]?
    }

    private var clients: [String: Client] = [:]
    /// Clients with a command that has no reply yet.
    private var open: Set<String> = []
    /// Clients that sent TRANSMIT and whose command has not appeared yet, in order.
    private var waiting: [String] = []
    private var connecting: [String] = []
    /// The maximum number of clients that wait: the daemon serves 200 at once.
    private static let crowd = 200
    private var disconnecting: String?
    private var looseReply: [UInt8]?
    private var lastReader: String?
    private var microseconds = 0
    private var hasTimes = false
    private static let alone = "card"

    /// The messages to the readers; used when the log has no line with an APDU.
    private var messages: CCIDLog?

    init(_ lines: LogLines) {
        let hasCommands = lines.contains { Self.payload($0, "APDU: ") != nil }
        if !hasCommands { messages = CCIDLog() }
    }

    mutating func finish(_ last: Int, _ book: inout SessionBook) throws(CaptureError) {
        for (client, state) in clients.sorted(by: { $0.key < $1.key }) {
            if let command = state.command, let reply = state.reply {
                book.exchange(label(client), command: command.bytes, reply: reply, milliseconds: command.milliseconds)
            }
        }
    }

    private var milliseconds: Double? { hasTimes ? Double(microseconds) / 1000 : nil }

    private func label(_ client: String) -> String { clients[client]?.reader ?? Self.alone }

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        advance(line)
        let time = milliseconds
        try messages?.take(line, time, &book)
        let thread = line.between("[", "] ").flatMap { Int($0) }.map { "thread \($0)" }
        if let digits = Self.payload(line, "APDU: ") {
            try command(line, digits, thread, &book)
        } else if let digits = Self.payload(line, "SW: ") {
            try reply(line, digits, thread, &book)
        } else if let digits = line.after("Card ATR: ") {
            let atr = try line.bytes(digits, "answer to reset")
            if let lastReader { book.reader(lastReader, atr: atr) } else { book.commonATR = atr }
        } else if let name = line.after("Card inserted into ") {
            lastReader = name.trimmed
        } else {
            call(line, thread, &book)
        }
    }

    /// The text after a mark that begins the line's message; only hexadecimal digits follow it.
    private static func payload(_ line: LogLine, _ mark: String) -> Substring? {
        guard let digits = line.after(mark) else { return nil }
        let before = line.text.dropLast(digits.count + mark.count)
        guard before.isEmpty || before.hasSuffix(" ") || before.hasSuffix("\t"), !before.hasSuffix("() ") else {
            return nil
        }
        return digits
    }

    private mutating func advance(_ line: LogLine) {
        for word in line.text.split(separator: " ", maxSplits: 8).prefix(8)
        where word.utf8.count == 8 && word.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            microseconds += Int(word) ?? 0
            hasTimes = true
            return
        }
    }

    private mutating func command(
        _ line: LogLine, _ digits: Substring, _ thread: String?, _ book: inout SessionBook
    ) throws(CaptureError) {
        let bytes = try line.bytes(digits, "command")
        let client = thread ?? (waiting.isEmpty ? Self.alone : waiting.removeFirst())
        flush(client, &book)
        if clients[client]?.command != nil {
            book.event(label(client), .fail, why: "no reply in the log", milliseconds: milliseconds)
        }
        clients[client, default: Client()].command = (bytes, line.number, milliseconds)
        open.insert(client)
    }

    private mutating func reply(
        _ line: LogLine, _ digits: Substring, _ thread: String?, _ book: inout SessionBook
    ) throws(CaptureError) {
        let bytes = try line.bytes(digits, "reply")
        guard !open.isEmpty else { throw CaptureError(line: line.number, "a reply without a command before it") }
        if let client = thread ?? (open.count == 1 ? open.first : nil) {
            clients[client]?.reply = bytes
            open.remove(client)
            flush(client, &book)
        } else {
            looseReply = bytes
        }
    }

    /// Writes a complete exchange.
    private mutating func flush(_ client: String, _ book: inout SessionBook) {
        guard let state = clients[client], let command = state.command, let reply = state.reply else { return }
        book.exchange(label(client), command: command.bytes, reply: reply, milliseconds: command.milliseconds)
        clients[client]?.command = nil
        clients[client]?.reply = nil
    }

    /// Parses the daemon's lines about its clients' calls.
    private mutating func call(_ line: LogLine, _ thread: String?, _ book: inout SessionBook) {
        if let received = line.after("Received command: ") {
            let parts = received.split(separator: " ")
            guard parts.count >= 4, parts[1] == "from" else { return }
            let client = thread ?? "client \(parts[3])"
            switch parts[0] {
            case "TRANSMIT": Self.queue(client, &waiting)
            case "CONNECT": Self.queue(client, &connecting)
            case "DISCONNECT": disconnecting = client
            default: break
            }
        } else if let name = line.between("Attempting Connect to ", " using protocol") {
            connect(thread, String(name), &book)
        } else if let done = line.after("TRANSMIT for client ") {
            transmitted(
                thread ?? "client \(done.prefix { $0 != "," })", isSuccess: done.has("SUCCESS"), done, &book)
        } else if let disposition = line.after("dwDisposition: "), let client = disconnecting {
            disconnecting = nil
            if disposition.hasPrefix("1") { book.event(label(client), .reset, milliseconds: milliseconds) }
            if disposition.hasPrefix("2") { book.event(label(client), .powerOff, milliseconds: milliseconds) }
        }
    }

    private static func queue(_ client: String, _ clients: inout [String]) {
        if clients.count == crowd { clients.removeFirst() }
        clients.append(client)
    }

    private mutating func connect(_ thread: String?, _ reader: String, _ book: inout SessionBook) {
        guard let client = thread ?? connecting.first else { return }
        connecting.removeAll { $0 == client }
        clients[client, default: Client()].reader = reader
        book.reader(reader)
        book.event(reader, .powerOn, milliseconds: milliseconds)
    }

    private mutating func transmitted(
        _ client: String, isSuccess: Bool, _ text: Substring, _ book: inout SessionBook
    ) {
        waiting.removeAll { $0 == client }
        if let looseReply, clients[client]?.command != nil {
            clients[client]?.reply = looseReply
            open.remove(client)
            self.looseReply = nil
        }
        flush(client, &book)
        if !isSuccess {
            clients[client]?.command = nil
            open.remove(client)
            book.event(label(client), .fail, why: "TRANSMIT \(text)", milliseconds: milliseconds)
        }
    }
}
