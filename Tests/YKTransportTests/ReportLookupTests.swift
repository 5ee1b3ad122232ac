// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCapture

/// Messages over HID are looked up by what they ask.
@Suite struct ReportLookupTests {
    private let soon = Deadline.after(.seconds(60))
    private static let theirs = CTAPHID.Channel(rawValue: 0x0102_0304)
    private static let others = CTAPHID.Channel(rawValue: 0x0A0B_0C0D)
    private static let profile: [UInt8] = [2, 5, 7, 1, 5]

    private static func events(_ isFromHost: Bool, _ message: CTAPHID.Message) throws -> [Capture.Event] {
        try message.reports().map { Capture.Event(isFromHost ? .written($0) : .delivered($0)) }
    }

    private static func recording() throws -> Capture {
        let nonce = [UInt8](1...8)
        var events = try Self.events(true, .init(.initialize, on: .broadcast, nonce))
        // Another program asks for a channel at the same time.
        let reply = { (nonce: [UInt8], channel: CTAPHID.Channel) in
            CTAPHID.Message(.initialize, on: .broadcast, nonce + channel.bytes + profile)
        }
        events += try Self.events(false, reply([UInt8](repeating: 9, count: 8), others))
        events += try Self.events(false, reply(nonce, theirs))
        events += try Self.events(true, .init(.cbor, on: theirs, [1] + [UInt8](repeating: 0xA0, count: 99)))
        events += try Self.events(false, .init(.keepalive, on: theirs, [2]))
        events += try Self.events(false, .init(.cbor, on: others, [0x2E]))
        events += try Self.events(false, .init(.keepalive, on: theirs, [1]))
        events += try Self.events(false, .init(.cbor, on: theirs, [0] + [UInt8](repeating: 0x55, count: 70)))
        events += try Self.events(true, .init(.cbor, on: theirs, [11]))
        events += try Self.events(true, .init(.cancel, on: theirs))
        events += try Self.events(false, .init(.cbor, on: theirs, [0x2D]))
        return Capture(header: .init(link: .hid), events: events)
    }

    private func ask(_ link: any ReportLink, _ message: CTAPHID.Message) throws -> [CTAPHID.Message] {
        for report in try message.reports() { try link.write(report, deadline: soon) }
        var assembler = CTAPHID.Assembler(channel: message.channel)
        var answers: [CTAPHID.Message] = []
        while let report = try? link.read(deadline: soon) {
            if case .message(let answer) = try assembler.add(report) { answers.append(answer) }
        }
        return answers
    }

    @Test func noncesAndChannelsAreTheHosts() throws {
        let link = CaptureReplay(try Self.recording(), mode: .lookup).reportLink()
        let nonce = [UInt8](21...28)
        let granted = try ask(link, .init(.initialize, on: .broadcast, nonce))
        expect(granted, is: [.init(.initialize, on: .broadcast, nonce + Self.theirs.bytes + Self.profile)])
        // A second program, and a channel of its own choice.
        let again = try ask(link, .init(.initialize, on: .broadcast, [UInt8](repeating: 3, count: 8)))
        expect(again.first?.payload.prefix(8), is: [3, 3, 3, 3, 3, 3, 3, 3])
        let mine = CTAPHID.Channel(rawValue: 77)
        let resynchronised = try ask(link, .init(.initialize, on: mine, nonce))
        expect(resynchronised, is: [.init(.initialize, on: mine, nonce + mine.bytes + Self.profile)])
        let request = CTAPHID.Message(.cbor, on: mine, [1] + [UInt8](repeating: 0xA0, count: 99))
        try expect(
            ask(link, request),
            is: [
                .init(.keepalive, on: mine, [2]), .init(.keepalive, on: mine, [1]),
                .init(.cbor, on: mine, [0] + [UInt8](repeating: 0x55, count: 70)),
            ])
        // Each message answers once; the cancelled one with what the key said then.
        #expect(throws: LinkError.self) { try ask(link, request) }
        try expect(ask(link, .init(.cancel, on: mine)), is: [])
        try expect(ask(link, .init(.cbor, on: mine, [11])), is: [.init(.cbor, on: mine, [0x2D])])
    }

    @Test func nothingComesUnasked() throws {
        let link = CaptureReplay(Capture(header: .init(link: .hid)), mode: .lookup).reportLink()
        #expect(throws: LinkError.timedOut("a report of the recording")) { try link.read(deadline: soon) }
        let granted = try ask(link, .init(.initialize, on: .broadcast, [UInt8](1...8)))
        expect(granted.first?.payload, is: [UInt8](1...8) + [0, 0, 0, 1, 2, 0, 0, 0, 0])
        #expect(throws: LinkError.self) { try link.write([1, 2], deadline: soon) }
        let error = #expect(throws: LinkError.self) { try ask(link, .init(.cbor, on: Self.theirs, [4])) }
        guard case .replay(let mismatch) = error else { return }
        #expect(mismatch.actualWords == "CTAP getInfo" && mismatch.actual?.count == 64)
    }

    /// Masked bytes of any report of a message are ignored.
    @Test func masksAreIgnored() throws {
        var capture = try Self.recording()
        let place = try #require(
            capture.events.firstIndex { if case .written(let r) = $0.kind { r[4] == 0 } else { false } })
        capture.events[place].commandMask = [.init(offset: 5, length: 3)]
        var payload = [1] + [UInt8](repeating: 0xA0, count: 99)
        for index in 57..<60 { payload[index] = 0xEE }
        let link = CaptureReplay(capture, mode: .lookup).reportLink()
        try expect(ask(link, .init(.cbor, on: Self.theirs, payload)).count, is: 3)
        payload[60] = 0xEE
        let other = CaptureReplay(capture, mode: .lookup).reportLink()
        #expect(throws: LinkError.self) { try ask(other, .init(.cbor, on: Self.theirs, payload)) }
    }

    /// A difference in strict mode is told in words, too.
    @Test func strictDifferencesAreInWords() throws {
        let link = CaptureReplay(try Self.recording()).reportLink()
        let wrong = try CTAPHID.Message(.wink, on: .broadcast).reports()[0]
        let error = #expect(throws: LinkError.self) { try link.write(wrong, deadline: soon) }
        guard case .replay(let mismatch) = error else { return }
        #expect(mismatch.line == 0 && mismatch.actualWords == "CTAPHID WINK, broadcast, to the key: 0 bytes")
        expect(mismatch.expectedWords, is: "CTAPHID INIT, broadcast, to the key: 8 bytes")
    }
}
