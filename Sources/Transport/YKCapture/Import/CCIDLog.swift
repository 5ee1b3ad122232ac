// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Reads the messages between libccid and a reader in a log of pcscd with `LIBCCID_ifdLogLevel`: `-> 000001 6F …` and
/// `<- 000001 80 …`.
struct CCIDLog {
    private var traffic: [String: CCIDTraffic] = [:]
    /// Whether the reader works with blocks of T=1, which are not APDUs.
    private var isInBlocks = false

    mutating func take(_ line: LogLine, _ time: Double?, _ book: inout SessionBook) throws(CaptureError) {
        if line.text.has("CmdXfrBlock") { isInBlocks = line.text.has("TPDU_T1") }
        let isSent = line.text.has("-> ")
        guard isSent || line.text.has("<- "), let rest = line.after(isSent ? "-> " : "<- ") else { return }
        let number = rest.prefix { $0.isHexDigit }
        guard number.utf8.count == 6, rest.dropFirst(6).first == " " else { return }
        let bytes = try line.bytes(rest.dropFirst(7), "message to the reader")
        let label = "reader \(number)"
        let finding =
            isSent
            ? traffic[label, default: CCIDTraffic()].sent(bytes)
            : traffic[label, default: CCIDTraffic()].received(bytes)
        guard let finding else { return }
        switch finding.1 {
        case .exchange(let command, let reply):
            guard !isInBlocks else {
                throw CaptureError(line: line.number, "the reader exchanges blocks of T=1, which are not read")
            }
            book.exchange(label, command: command, reply: reply, milliseconds: time)
        case .powered(let atr):
            book.reader(label, atr: atr)
            book.event(label, .powerOn, milliseconds: time)
        case .event(let event, let why): book.event(label, event, why: why, milliseconds: time)
        }
    }
}
