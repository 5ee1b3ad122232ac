// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCapture

@Suite struct CaptureTextTests {
    @Test(arguments: Recordings.all)
    func aRecordingIsWrittenAsItWasRead(name: String) throws {
        let capture = try Recordings.capture(name)
        try expect(Capture(parsing: Array(capture.text.utf8)), is: capture)
        #expect(capture.check().filter { $0.isError }.isEmpty)
    }

    /// Every line of every recording, broken in turn, is an error with that line's number.
    @Test(arguments: Recordings.all)
    func brokenLines(name: String) throws {
        let lines = String(decoding: Recordings.bytes(name), as: UTF8.self).split(separator: "\n").map(String.init)
        for (index, line) in lines.enumerated() {
            var broken = [
                String(line.dropLast()), String(line.prefix(line.count / 2)), "[]", "x" + line,
                line.replacing("\"c\":\"00", with: "\"c\":\"0"), line.replacing("\"atr\":\"3b", with: "\"atr\":\"3g"),
                line.replacing("\"r\":\"", with: "\"r\":\"z"), line.replacing("\"e\":\"", with: "\"e\":1,\"x\":\""),
                line.replacing("{\"c\"", with: "{\"e\":\"reset\",\"c\""), line.replacing("\"r\":", with: "\"q\":"),
            ]
            if index == 0 { broken += ["{\"capture\":2,\"link\":\"card\"}", "{\"capture\":1,\"link\":\"tin\"}", "{}"] }
            for text in broken where text != line {
                var copy = lines
                copy[index] = text
                let error = #expect(throws: CaptureError.self) {
                    try Capture(parsing: Array(copy.joined(separator: "\n").utf8))
                }
                expect(error?.line, is: index + 1, "\(text)")
            }
        }
    }

    @Test(arguments: [
        "{\"c\":\"00\",\"r\":\"\",\"cm\":1}", "{\"c\":\"00\",\"r\":\"\",\"cm\":[1]}",
        "{\"c\":\"00\",\"r\":\"\",\"cm\":[[1]]}", "{\"c\":\"00\",\"r\":\"\",\"cm\":[[1,\"x\",2]]}",
        "{\"c\":\"00\",\"r\":\"\",\"cm\":[[-1,2]]}", "{\"c\":\"00\",\"r\":\"\",\"rm\":[[1,9999999]]}",
        "{\"c\":\"00\",\"r\":\"\",\"ms\":\"1\"}", "{\"c\":1,\"r\":\"\"}", "{\"c\":\"00\"}", "{\"w\":1}", "{}", "null",
        "{\"c\":\"00\",\"r\":\"\",\"c\":\"00\"}",
    ])
    func brokenEvents(line: String) {
        let text = "{\"capture\":1,\"link\":\"card\"}\n\n\(line)\n"
        #expect(#expect(throws: CaptureError.self) { try Capture(parsing: Array(text.utf8)) }?.line == 3)
    }

    @Test func anEmptyFile() {
        #expect(throws: CaptureError(line: 1, "the file is empty, expected a header")) { try Capture(parsing: []) }
        expect(CaptureError(line: 7, "why").description, is: "line 7: why")
    }

    @Test func anEventHasATime() {
        func event(_ milliseconds: Double?) -> Capture.Event { .init(.delivered([3]), milliseconds: milliseconds) }
        expect(Capture.Event(.delivered([3]), time: .microseconds(2500)), is: event(2.5))
        #expect(event(2.5).time == .microseconds(2500) && event(nil).time == nil)
        #expect(event(1e300).time == .milliseconds(1e15) && event(-1e300).time == .milliseconds(-1e15))
    }

    @Test func everyKindOfEventIsWrittenAndRead() throws {
        var header = Capture.Header(link: .hid)
        header.device = "d"
        header.reader = "r"
        header.note = "n"
        header.fields["firmware"] = "5.7.1"
        var written = Capture.Event(.written([1, 2]), milliseconds: 1.23456)
        written.commandMask = [.init(offset: 0, length: 1)]
        var capture = Capture(
            header: header,
            events: [
                written, .init(.delivered([3])), .init(.featureSet([4])), .init(.featureGot([5])),
                .init(.link(.fail, why: "because")), .init(.exchange(command: [1], reply: [])),
            ])
        let text = capture.text
        expect(text.split(separator: "\n")[1], is: "{\"w\":\"0102\",\"ms\":1.235,\"cm\":[[0,1]]}")
        for index in capture.events.indices { capture.events[index].line = index + 2 }
        capture.events[0].milliseconds = 1.235
        let read = try Capture(parsing: Array(text.utf8))
        expect(read, is: capture)
        #expect(read.header.device == "d" && read.header.reader == "r" && read.header.note == "n")
        header.reader = nil
        header.atr = nil
        header.random = nil
        header.maxCommandLength = nil
        #expect(header.reader == nil && header.atr == nil && header.random == nil && header.clock == nil)
    }

    @Test func masksAreCutToTheBytes() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        expect(bytes.masked([.init(offset: 1, length: 2)]), is: [1, 0, 0, 4])
        expect(bytes.masked([.init(offset: 3, length: .max), .init(offset: 9, length: 1)]), is: [1, 2, 3, 0])
        expect(bytes.masked([.init(offset: -1, length: 2), .init(offset: 0, length: 0)]), is: bytes)
    }

    // MARK: Check

    private func findings(_ lines: String..., header: String = "\"atr\":\"3b00\"") throws -> [String] {
        let text = (["{\"capture\":1,\"link\":\"card\",\(header)}"] + lines).joined(separator: "\n")
        return try Capture(parsing: Array(text.utf8)).check().map { ($0.isError ? "E " : "W ") + $0.description }
    }

    @Test func checkingTheEvents() throws {
        try expect(findings("{\"c\":\"00a10000\",\"r\":\"9000\",\"ms\":5}", "{\"e\":\"power-off\",\"ms\":6}"), is: [])
        try expect(
            findings("{\"c\":\"00a10000\",\"r\":\"9000\",\"ms\":5}", "{\"e\":\"reset\",\"ms\":4}"),
            is: [
                "W line 3: the time goes back, from 5.0 to 4.0 ms"
            ])
        try expect(findings("{\"c\":\"00a1\",\"r\":\"90\",\"ms\":-1}").count, is: 4)
        try expect(
            findings("{\"c\":\"00a1000005\",\"r\":\"9000\",\"cm\":[[4,2]],\"rm\":[[0,0]]}"),
            is: [
                "E line 2: \"cm\" goes beyond the 5 bytes", "E line 2: \"cm\" marks a secret that is not overwritten",
                "W line 2: \"rm\" has an empty range",
            ])
        try expect(findings("{\"c\":\"00a1000005ff\",\"r\":\"9000\"}").first?.contains("not an APDU"), is: true)
        try expect(
            findings("{\"c\":\"0020008001ff\",\"r\":\"9000\"}"),
            is: [
                "W line 2: a secret that is not overwritten; run `ykit capture redact`"
            ])
        try expect(findings("{\"c\":\"002000800100\",\"r\":\"9000\",\"cm\":[[5,1]]}"), is: [])
        try expect(
            findings("{\"w\":\"00\"}", "{\"e\":\"odd\"}"),
            is: [
                "E line 2: a HID report on a card link", "W line 3: unknown event \"odd\"",
            ])
        try expect(findings(), is: ["W line 1: nothing was exchanged"])
    }

    @Test func checkingTheHeader() throws {
        let event = "{\"c\":\"00a10000\",\"r\":\"9000\"}"
        let malformed = try findings(event, header: "\"atr\":\"3c\"").first
        expect(malformed?.hasPrefix("W line 1: \"atr\" is not well-formed: TS is 3c"), is: true)
        try expect(findings(event, header: "\"x\":1").first?.hasPrefix("W line 1: no \"atr\""), is: true)
        try expect(findings(event, header: "\"atr\":\"3b8001ff\""), is: ["W line 1: \"atr\": the check byte is wrong"])
        let odd = try findings(event, header: "\"atr\":\"3b00\",\"note\":1,\"clock\":-1,\"secrets\":true")
        expect(odd.count, is: 3)
        try expect(
            findings(event, header: "\"atr\":\"3b00\",\"clock\":\"x\""),
            is: [
                "E line 1: \"clock\" is not a whole number"
            ])
    }

    @Test func checkingHIDReports() throws {
        let capture = Capture(
            header: .init(link: .hid),
            events: [
                .init(.written([1])), .init(.featureGot([1])), .init(.delivered(.init(repeating: 0, count: 64))),
                .init(.featureSet(.init(repeating: 0, count: 8))),
                .init(.exchange(command: [0, 1, 2, 3], reply: [0x90, 0])),
            ])
        let findings = capture.check()
        #expect(findings.map(\.line) == [2, 3, 6] && findings.map(\.isError) == [false, false, true])
    }
}
