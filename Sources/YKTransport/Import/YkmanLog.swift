// SPDX-License-Identifier: Apache-2.0

/// Reads what `ykman --log-level TRAFFIC` logs:
/// `TRAFFIC 03:38:54.621 [ykman.pcsc.send_and_receive:97] SEND: 00a4…`, then the same with `RECV: … SW=9000`.
enum YkmanLog {
    static func read(_ lines: [LogLine], into book: inout SessionBook) throws(CaptureError) {
        var label = "ykman"
        var pending: (bytes: [UInt8], milliseconds: Double?)?
        for line in lines {
            if let name = line.between("fingerprint='", "')"), line.text.contains("SmartCard"), label == "ykman" {
                label = String(name)
                book.reader(label)
            }
            if line.text.contains("_open_smartcard_connection") {
                pending = nil
                book.event(label, .powerOn, milliseconds: time(line))
            }
            guard line.text.contains("pcsc") else { continue }
            if let digits = line.after("] SEND: ") {
                if pending != nil { book.event(label, .fail, why: "no reply in the log", milliseconds: time(line)) }
                pending = (try line.bytes(digits, "command"), time(line))
            } else if let digits = line.between("] RECV: ", "SW="), let status = line.after("SW=") {
                let reply = try line.bytes(digits, "reply") + line.bytes(status, "status word")
                guard let command = pending else {
                    throw CaptureError(line: line.number, "a reply without a command before it")
                }
                book.exchange(label, command: command.bytes, reply: reply, milliseconds: command.milliseconds)
                pending = nil
            }
        }
    }

    /// The time of day in milliseconds: after the dot there is a number of milliseconds, not a fraction.
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
