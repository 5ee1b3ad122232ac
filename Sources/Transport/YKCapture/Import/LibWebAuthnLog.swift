// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Parses the traces of libwebauthn: over HID `report=[0, 255, …]` with the report number before what is sent, or
/// `report: […]`; over a card `TX: […]` and `RX: […]`.
struct LibWebAuthnLog: LogReader {
    private var talk = CardTalk()
    private var channels = HIDChannels()

    mutating func take(_ line: LogLine, _ book: inout SessionBook) throws(CaptureError) {
        guard line.text.has("libwebauthn::transport") else { return }
        if let text = line.after("report=[") ?? line.after("report: [") {
            var report = try Self.list(line, text)
            let isSent = report.count == CTAPHID.reportSize + 1 && report[0] == 0
            if isSent { report.removeFirst() }
            guard report.count == CTAPHID.reportSize else {
                throw CaptureError(line: line.number, "a report of \(report.count) bytes")
            }
            channels.take(isSent ? .written(report) : .delivered(report), report, nil, &book)
        } else if let text = line.after("TX: [") {
            try talk.sent(Self.list(line, text), line, &book)
        } else if let text = line.after("RX: [") {
            try talk.received(Self.list(line, text), line, &book)
        }
    }

    private static func list(_ line: LogLine, _ text: Substring) throws(CaptureError) -> [UInt8] {
        guard let bytes = LogLine.list("[" + text) else {
            throw CaptureError(line: line.number, "the list of bytes is cut off")
        }
        return bytes
    }
}
