// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCapture

/// A command is found however the recording, and the host, cut it and its reply into parts.
@Suite struct CardLookupTests {
    /// How one side writes commands and asks for replies.
    enum Form: CaseIterable, Sendable {
        case blocksOf250
        case blocksOf255
        case extended
    }

    private static let request = (0..<600).map { UInt8(truncatingIfNeeded: $0 * 7 + 1) }
    private static let answer = (0..<700).map { UInt8(truncatingIfNeeded: $0 * 3) }
    private let soon = Deadline.after(.seconds(60))

    /// A recording of one long command with a long reply.
    private static func recording(_ form: Form, isChained: Bool) throws -> Capture {
        var events: [Capture.Event] = []
        let add = { (command: APDU, reply: ResponseAPDU) in
            let bytes = try command.encoded(form == .extended ? .extended : .short)
            events.append(Capture.Event(.exchange(command: bytes, reply: reply.encoded)))
        }
        try add(.select(.fido), ResponseAPDU(.ok, data: Array("U2F_V2".utf8)))
        var rest = request[...]
        let size = form == .extended ? 65_535 : form == .blocksOf250 ? 250 : 255
        while rest.count > size {
            try add(APDU(cla: 0x90, ins: 0x10, data: Array(rest.prefix(size)), le: .none), ResponseAPDU(.ok))
            rest = rest.dropFirst(size)
        }
        let last = APDU(cla: 0x80, ins: 0x10, data: Array(rest))
        guard isChained else {
            try add(last, ResponseAPDU(.ok, data: answer))
            return Capture(header: .init(link: .card), events: events)
        }
        try add(last, ResponseAPDU(StatusWord(0x61FF), data: Array(answer.prefix(255))))
        for start in stride(from: 255, to: answer.count, by: 255) {
            let end = min(answer.count, start + 255)
            let status = end == answer.count ? StatusWord.ok : StatusWord(0x6100 | UInt16(min(255, answer.count - end)))
            try add(
                APDU(cla: 0x80, ins: 0xC0, le: .bytes(255)), ResponseAPDU(status, data: Array(answer[start..<end])))
        }
        return Capture(header: .init(link: .card), events: events)
    }

    @Test(arguments: Form.allCases, [false, true])
    func everyFormFindsEveryOther(recorded: Form, isChained: Bool) throws {
        for form in [APDU.Form.short, .extended] {
            let replay = CaptureReplay(try Self.recording(recorded, isChained: isChained), mode: .lookup)
            let channel = CardChannel(link: replay.link(), environment: replay.replaying(ServiceEnvironment()))
            channel.form = form
            _ = try channel.select(.fido)
            let command = APDU(cla: 0x80, ins: 0x10, p1: 0x80, data: Self.request)
            try expect(channel.transmit(command), is: ResponseAPDU(.ok, data: Self.answer))
            #expect(throws: CardError.self) { try channel.transmit(command) }
        }
    }

    @Test func repliesComeInTheFormAskedFor() throws {
        let link = CaptureReplay(try Self.recording(.extended, isChained: false), mode: .lookup).link()
        for start in stride(from: 0, to: 400, by: 200) {
            let part = APDU(cla: 0x90, ins: 0x10, data: Array(Self.request[start..<(start + 200)]), le: .none)
            try expect(link.exchange(part.encoded(.short), deadline: soon), is: [0x90, 0x00])
        }
        let last = APDU(cla: 0x80, ins: 0x10, data: Array(Self.request[400...]), le: .bytes(100))
        try expect(link.exchange(last.encoded(.short), deadline: soon), is: Self.answer[..<100] + [0x61, 0x00])
        let more = try link.exchange([0x00, 0xC0, 0, 0, 0], deadline: soon)
        expect(more, is: Self.answer[100..<356] + [0x61, 0x00])
        let most = try link.exchange([0x80, 0xC0, 0, 0, 0], deadline: soon)
        expect(most, is: Self.answer[356..<612] + [0x61, 88])
        try expect(link.exchange([0x00, 0xC0, 0, 0, 88], deadline: soon), is: Self.answer[612...] + [0x90, 0x00])
        #expect(throws: LinkError.self) { try link.exchange([0x00, 0xC0, 0, 0, 0], deadline: soon) }
    }

    /// What was masked in the parts of a chain is ignored wherever the host cuts.
    @Test func masksMoveWithTheParts() throws {
        var capture = try Self.recording(.blocksOf250, isChained: true)
        capture.events[2].commandMask = [.init(offset: 5 + 10, length: 20), .init(offset: 5 + 245, length: 5)]
        var asked = Self.request
        for index in [260, 279, 495, 499] { asked[index] ^= 0xFF }
        for (index, isFound) in [(0, true), (259, false)] {
            var asked = asked
            if index > 0 { asked[index] ^= 0xFF }
            let link = CaptureReplay(capture, mode: .lookup).link()
            let bytes = try APDU(cla: 0x80, ins: 0x10, data: asked).encoded(.extended)
            let reply = try? link.exchange(bytes, deadline: soon)
            expect((reply == Self.answer + [0x90, 0x00]), is: isFound)
        }
    }

    /// A reply that was never fetched to its end is given as it was recorded.
    @Test func stallsStayStalls() throws {
        var capture = try Self.recording(.extended, isChained: true)
        capture.events.removeLast()
        let link = CaptureReplay(capture, mode: .lookup).link()
        let bytes = try APDU(cla: 0x80, ins: 0x10, data: Self.request, le: .bytes(9)).encoded(.extended)
        try expect(link.exchange(bytes, deadline: soon).suffix(2), is: [0x61, 0xFF])
    }
}
