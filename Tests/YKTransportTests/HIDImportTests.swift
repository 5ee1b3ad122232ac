// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// Logs of libfido2 and python-fido2, line by line.
@Suite struct HIDImportTests {
    private func words(_ capture: Capture) -> [String] {
        var narrator = Narrator()
        return capture.events.map { narrator.narrate($0) }.map { $0.details.first ?? $0.summary }
    }

    private func dump(_ name: String, _ bytes: [UInt8]) -> String {
        var text = "\(name): buf=0x7ffe, len=\(bytes.count)\n"
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let row = bytes[start..<min(bytes.count, start + 16)].map { Hex.encode([$0]) }.joined(separator: " ")
            text += String(repeating: "0", count: 4 - "\(start)".count) + "\(start): \(row)\n"
        }
        return text
    }

    private func sent(_ device: String, _ command: UInt8, _ payload: [UInt8]) -> String {
        "fido_tx: dev=\(device), cmd=0x\(Hex.encode([command]))\n" + dump("fido_tx", payload)
    }

    private func received(_ device: String, _ message: CTAPHID.Message) throws -> String {
        let reports = try message.reports()
        return "fido_rx: dev=\(device), cmd=0x\(Hex.encode([message.command.rawValue])), ms=-1\n"
            + dump("rx_preamble", reports[0]) + "rx: payload_len=\(message.payload.count)\n"
            + reports.dropFirst().map { dump("rx", $0) }.joined() + dump("fido_rx", message.payload)
    }

    private func session(_ device: String, _ channel: UInt32, _ nonce: [UInt8]) throws -> String {
        let channel = CTAPHID.Channel(rawValue: channel)
        return sent(device, 0x06, nonce)
            + (try received(device, .init(.initialize, on: .broadcast, nonce + channel.bytes + [2, 5, 7, 1, 5])))
            + "fido_dev_get_cbor_info_tx: dev=\(device)\n" + sent(device, 0x10, [0x04])
            + (try received(device, .init(.cbor, on: channel, [0x00] + [UInt8](repeating: 0x60, count: 80))))
            + "cbor_parse_reply: blob[0]=0x00\n" + sent(device, 0x11, [])
    }

    @Test func libfido2OverHID() throws {
        let log = try session("0x5603", 0x0102_0304, [UInt8](1...8))
        let capture = try Capture(importing: Array(log.utf8), from: .libfido2)
        #expect(capture.header.link == .hid && capture.header.note == "imported from a libfido2 log")
        let reports = capture.events.map(\.kind)
        expect(reports.count, is: 6)
        expect(reports[0], is: .written(try CTAPHID.Message(.initialize, on: .broadcast, [UInt8](1...8)).reports()[0]))
        let channel = CTAPHID.Channel(rawValue: 0x0102_0304)
        expect(reports[2], is: .written(try CTAPHID.Message(.cbor, on: channel, [0x04]).reports()[0]))
        expect(reports[5], is: .written(try CTAPHID.Message(.cancel, on: channel).reports()[0]))
        #expect(words(capture)[2] == "CTAP getInfo" && capture.check().filter(\.isError).isEmpty)
    }

    @Test func libfido2WithTwoDevices() throws {
        let log = try session("0x5603", 1, [UInt8](1...8)) + session("0x77aa", 2, [UInt8](2...9))
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .libfido2) }
        expect(error?.reason, is: "the log has 2 HID devices or channels, choose one: 1 'HID 0x5603', 2 'HID 0x77aa'")
        try expect(Capture(importing: Array(log.utf8), from: .libfido2, session: 2).events.count, is: 6)
    }

    @Test func libfido2OverACard() throws {
        let select: [UInt8] = [0, 0xA4, 4, 0, 8] + AID.fido.rawValue + [0]
        let reply = Array("U2F_V2".utf8) + [0x90, 0x00]
        let log =
            sent("0x5603", 0x06, [1]) + dump("fido_pcsc_write: writing", select) + dump("fido_pcsc_write: read", reply)
            + dump("fido_pcsc_read: reading", reply) + sent("0x5603", 0x10, [4])
            + dump("fido_pcsc_write: writing", [0x80, 0x10, 0, 0, 1, 4, 0])
            + dump("fido_pcsc_write: read", [0, 0x90, 0x00])
        let capture = try Capture(importing: Array(log.utf8), from: .libfido2)
        #expect(capture.header.link == .card && capture.events.count == 2)
        expect(capture.events[0].kind, is: .exchange(command: select, reply: reply))
    }

    @Test(arguments: [
        ("fido_tx: buf=0x1, len=4\n0000: 01 02\nfido_rx: dev=0x1, cmd=0x06, ms=-1", 1, "the announced 4 bytes"),
        ("fido_tx: buf=0x1, len=2\n0000: 01 02 03", 1, "the announced 2 bytes"),
        ("fido_tx: buf=0x1, len=2\n0000: 01 0x", 1, "the announced 2 bytes"),
        ("fido_tx: buf=0x1", 1, "without a length"),
        ("fido_tx: buf=0x1, len=99999999", 1, "without a length"), ("hello\n", 2, "no exchange"),
        ("rx_preamble: buf=0x1, len=2\n0000: 01 02", 2, "a report of 2 bytes"),
    ])
    func brokenLibfido2(log: String, line: Int, reason: String) {
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .libfido2) }
        #expect(error?.line == line && error?.reason.contains(reason) == true)
    }

    /// A message that is too long for HID is told, not trapped on.
    @Test func aMessageThatIsTooLong() throws {
        let log =
            sent("0x1", 0x10, [UInt8](repeating: 1, count: 7610))
            + (try received("0x1", .init(.cbor, on: .init(rawValue: 7), [0])))
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .libfido2) }
        expect(error?.reason.contains("7610 bytes"), is: true)
    }

    private func python(_ isSent: Bool, _ message: CTAPHID.Message) throws -> String {
        try message.reports().map { report in
            var report = report
            while isSent, report.last == 0 { report.removeLast() }  // Not filled up.
            return "Level 5:fido2.hid:\(isSent ? "SEND" : "RECV"): \(Hex.encode(report))\n"
        }.joined()
    }

    private func pythonSession(_ channel: UInt32, _ nonce: [UInt8]) throws -> String {
        let channel = CTAPHID.Channel(rawValue: channel)
        let granted = nonce + channel.bytes + [2, 5, 7, 1, 5]
        return try python(true, .init(.initialize, on: .broadcast, nonce))
            + python(false, .init(.initialize, on: .broadcast, [UInt8](repeating: 7, count: 17)))
            + python(false, .init(.initialize, on: .broadcast, granted))
            + python(true, .init(.cbor, on: channel, [4]))
            + "DEBUG:fido2.hid:Got keepalive status: 01\n" + python(false, .init(.keepalive, on: channel, [1]))
            + python(false, .init(.cbor, on: channel, [0x00] + [UInt8](repeating: 0x60, count: 80)))
    }

    @Test func pythonFIDO2() throws {
        let first = try pythonSession(0x0102_0304, [UInt8](1...8))
        let capture = try Capture(importing: Array(first.utf8), from: .pythonFIDO2)
        #expect(capture.header.link == .hid && capture.events.count == 6)
        expect(words(capture)[2...3], is: ["CTAP getInfo", "processing"])
        #expect(capture.check().filter(\.isError).isEmpty)
        let both = first + (try pythonSession(0x0102_0305, [UInt8](3...10)))
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(both.utf8), from: .pythonFIDO2) }
        expect(error?.reason.contains("choose one: 1 'channel 01020304', 2 'channel 01020305'"), is: true)
        // The same from ykman, with times; and without the loggers' names.
        let lines = first.split(separator: "\n").enumerated().map { "TRAFFIC 10:00:00.\($0.offset) [\($0.element)" }
        let ykman = lines.joined(separator: "\n").replacing("Level 5:fido2.hid:", with: "fido2.hid._do_call:161] ")
        let timed = try Capture(importing: Array(ykman.utf8), from: .ykman)
        #expect(timed.events.map(\.kind) == capture.events.map(\.kind) && timed.events.last?.milliseconds == 7)
        let bare = first.replacing("Level 5:fido2.hid:", with: "")
        try expect(Capture(importing: Array(bare.utf8), from: .pythonFIDO2).events, is: capture.events)
    }

    @Test func pythonFIDO2OverACard() throws {
        let log = "Level 5:fido2.pcsc:SEND: 00a40400\nLevel 5:fido2.pcsc:RECV: 5532 SW=9000\n"
        let capture = try Capture(importing: Array(log.utf8), from: .pythonFIDO2)
        expect(capture.events.map(\.kind), is: [.exchange(command: [0, 0xA4, 4, 0], reply: [0x55, 0x32, 0x90, 0])])
        let bare = log.replacing("Level 5:fido2.pcsc:", with: "")
        try expect(Capture(importing: Array(bare.utf8), from: .pythonFIDO2).events, is: capture.events)
        let slots = "TRAFFIC 10:00:00.1 [ykman.hid.linux.x:1] SEND: 0102030405060708\n"
        try expect(
            Capture(importing: Array(slots.utf8), from: .ykman).events.first?.kind, is: .featureSet([UInt8](1...8)))
    }

    @Test(arguments: [
        ("Level 5:fido2.hid:SEND: ff", 1, "a report of 1 bytes"), ("Level 5:fido2.hid:SEND: zz", 1, "the report:"),
        ("\nLevel 5:fido2.pcsc:RECV: 01 SW=9000", 2, "without a command"),
        ("Level 5:fido2.hid:SEND: ffffffff860008aabb", 1, "no exchange"), ("nothing", 1, "no exchange"),
    ])
    func brokenPythonFIDO2(log: String, line: Int, reason: String) {
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .pythonFIDO2) }
        #expect(error?.line == line && error?.reason.contains(reason) == true)
    }
}
