// SPDX-License-Identifier: Apache-2.0

import Testing
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

@Suite struct ChannelTests {
    private let soon = Deadline.after(.seconds(60))

    private func channel(_ link: sending ScriptedLink) -> CardChannel { CardChannel(link: link) }

    // MARK: Encoding

    @Test func aWrongLeIsCorrectedOnce() throws {
        let log = ScriptedLink.Log()
        let stage = EncodingStage(link: ScriptedLink(["6c05", "01020304059000", "6c10"], log: log))
        try expect(stage.send(APDU(ins: 0xCA), deadline: soon).data, is: [1, 2, 3, 4, 5])
        #expect(log.lines == ["00ca000000", "00ca000005"] && stage.exchanges == 2)
        let response = try stage.send(APDU(ins: 0xCA, le: .none), deadline: soon)
        expect(response.status.correctLe, is: 16)
    }

    @Test func aReplyWithoutStatusIsMalformed() {
        let stage = EncodingStage(link: ScriptedLink(["90"]))
        #expect(
            throws: CardError.link(
                .malformed(
                    WireError(
                        .truncated, at: 1, "a response has at least the two bytes of its status word")))
        ) {
            try stage.send(APDU(ins: 1), deadline: soon)
        }
    }

    @Test func whatDoesNotFitIsNamed() {
        let stage = EncodingStage(link: ScriptedLink([]))
        let long = APDU(cla: 0, ins: 0xDB, p1: 0x3F, p2: 0xFF, data: .init(repeating: 0, count: 300))
        #expect(throws: CardError.tooLong(during: "command 00db3fff")) { try stage.send(long, deadline: soon) }
    }

    @Test func nothingIsSentAfterTheDeadline() {
        let log = ScriptedLink.Log()
        let stage = EncodingStage(link: ScriptedLink(["9000"], log: log))
        #expect(throws: CardError.link(.timedOut("command 00010000"))) {
            try stage.send(APDU(ins: 1), deadline: .after(.zero))
        }
        let stop = Cancellation()
        stop.cancel()
        #expect(throws: CardError.link(.cancelled)) {
            try stage.send(APDU(ins: 1), deadline: .after(.seconds(9), cancellation: stop))
        }
        #expect(log.lines.isEmpty)
    }

    // MARK: The touch of YubiKey 4

    private static let four: [UInt8] = [
        0x3B, 0xF8, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x59, 0x75, 0x62, 0x69, 0x6B, 0x65, 0x79, 0x34, 0xD4,
    ]
    private static let near: [UInt8] = [
        0x3B, 0x8D, 0x80, 0x01, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62, 0x69, 0x4B, 0x65, 0x79, 0xF9,
    ]

    /// What passes when a reply of `size` bytes is followed by two commands with short replies.
    private func commands(_ firmware: FirmwareVersion, atr: [UInt8], after size: Int) throws -> [String] {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(atr: atr, log: log) { command throws(LinkError) in
            (command[1] == 0xA1 ? [UInt8](repeating: 1, count: size) : []) + [0x90, 0]
        }
        let channel = CardChannel(link: link)
        channel.form = .short
        channel.adapt(to: firmware)
        for ins: UInt8 in [0xA1, 0xA2, 0xA3] { _ = try channel.transmit(APDU(ins: ins)) }
        return log.lines.filter { $0 != "begin" && $0 != "end" && $0 != "close" }
    }

    @Test("after a long reply a key that would miss the touch is sent a command for nothing")
    func touchAfterLongReply() throws {
        let usual = ["00a1000000", "00a2000000", "00a3000000"]
        let careful = ["00a1000000", "0000000000", "00a2000000", "00a3000000"]
        for firmware in [FirmwareVersion(4, 2, 0), FirmwareVersion(4, 2, 6)] {
            try expect(commands(firmware, atr: Self.four, after: 55), is: careful)
            try expect(commands(firmware, atr: Self.four, after: 54), is: usual)
            try expect(commands(firmware, atr: Self.near, after: 55), is: usual)
            try expect(commands(firmware, atr: ScriptedLink.silentATR, after: 55), is: usual)
        }
        for firmware in [FirmwareVersion(4, 1, 9), FirmwareVersion(4, 2, 7), FirmwareVersion(5, 7, 1)] {
            try expect(commands(firmware, atr: Self.four, after: 200), is: usual)
        }
    }

    // MARK: Command chaining

    @Test func longDataGoesInParts() throws {
        let log = ScriptedLink.Log()
        let stage = CommandChaining(next: EncodingStage(link: ScriptedLink(["9000", "9000", "019000"], log: log)))
        let command = APDU(ins: 0xDB, data: .init(repeating: 0xAB, count: 511))
        try expect(stage.send(command, deadline: soon).data, is: [1])
        let block = String(repeating: "ab", count: 255)
        expect(log.lines, is: ["10db0000ff\(block)", "10db0000ff\(block)", "00db000001ab00"])
    }

    @Test func aRefusedPartEndsTheChain() throws {
        let log = ScriptedLink.Log()
        let stage = CommandChaining(next: EncodingStage(link: ScriptedLink(["6884"], log: log)))
        let response = try stage.send(APDU(ins: 0xDB, data: .init(repeating: 0, count: 600)), deadline: soon)
        #expect(response.status.rawValue == 0x6884 && log.lines.count == 1)
    }

    @Test func extendedFormUpToTheLimitOfTheReader() throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(["9000", "9000"], atr: ScriptedLink.extendedATR, maxCommandLength: 1033, log: log)
        let channel = channel(link)
        #expect(channel.form == .extended && channel.identity.reader == "scripted")
        _ = try channel.transmit(APDU(ins: 0xDB, data: .init(repeating: 0, count: 1025)))
        #expect(log.lines.map(\.count) == [5, 2062, 20] && log.lines[1].hasPrefix("10db0000000400"))
        expect(channel.exchanges, is: 2)
    }

    @Test func aReaderOfShortCommandsKeepsToThem() {
        expect(channel(ScriptedLink([], atr: ScriptedLink.extendedATR, maxCommandLength: 261)).form, is: .short)
        expect(channel(ScriptedLink([])).form, is: .short)
    }

    @Test func extendedFormIsGivenUpWhenTheCardRefusesIt() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink(["6700", "9000", "6700"], atr: ScriptedLink.extendedATR, log: log))
        try expect(channel.transmit(APDU(ins: 0xA1)).status, is: .ok)
        #expect(log.lines == ["begin", "00a10000000000", "00a1000000"] && channel.form == .short)
        try expect(channel.transmit(APDU(ins: 0xA1)).status, is: .wrongLength)
        expect(log.lines.count, is: 4)
    }

    @Test func extendedFormOnceProvenIsKept() throws {
        let channel = channel(ScriptedLink(["9000", "6700"], atr: ScriptedLink.extendedATR))
        try expect(channel.transmit(APDU(ins: 0xA1)).status, is: .ok)
        try expect(channel.transmit(APDU(ins: 0xA2)).status, is: .wrongLength)
        #expect(channel.form == .extended && channel.exchanges == 2)
    }

    // MARK: Response chaining

    @Test func theRestIsCollected() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink(["0102610a", "036101", "049000"], log: log))
        try expect(channel.transmit(APDU(cla: 0x80, ins: 0x10)).data, is: [1, 2, 3, 4])
        expect(log.lines, is: ["begin", "8010000000", "80c0000000", "80c0000000"])
    }

    @Test func oathHasItsOwnInstruction() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink(["9000", "0161ff", "029000"], log: log))
        _ = try channel.select(.oath)
        channel.continuation = 0xA5
        try expect(channel.transmit(APDU(ins: 0xA1)).data, is: [1, 2])
        expect(log.lines.last, is: "00a5000000")
    }

    @Test func noProgressStops() {
        let channel = channel(ScriptedLink(["61ff", "61ff", "61ff", "9000"]))
        #expect(throws: CardError.endlessReply(during: "command 00a10000")) { try channel.transmit(APDU(ins: 0xA1)) }
        expect(channel.exchanges, is: 3)
    }

    @Test("a card that sends data only for the length that it announced is asked for it, from then on at once")
    func theAnnouncedLengthIsAskedFor() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink(["6102", "6102", "01029000", "6101", "039000"], log: log))
        try expect(channel.transmit(APDU(ins: 0xA1)).data, is: [1, 2])
        try expect(channel.transmit(APDU(ins: 0xA1)).data, is: [3])
        expect(log.lines.dropFirst(), is: ["00a1000000", "00c0000000", "00c0000002", "00a1000000", "00c0000001"])
    }

    @Test func roundsAndBytesAreCapped() throws {
        let link = ScriptedLink(atr: ScriptedLink.silentATR) { _ in [0, 0x61, 0xFF] }
        let stage = ResponseChaining(next: EncodingStage(link: link))
        stage.roundLimit = 10
        #expect(throws: CardError.endlessReply(during: "command 00a10000")) {
            try stage.send(APDU(ins: 0xA1), deadline: soon)
        }
        let fast = EncodingStage(
            link: ScriptedLink(atr: ScriptedLink.silentATR) { _ in [UInt8](repeating: 0, count: 256) + [0x61, 0] })
        let capped = ResponseChaining(next: fast)
        capped.byteLimit = 1024
        #expect(throws: CardError.endlessReply(during: "command 00a10000")) {
            try capped.send(APDU(ins: 0xA1), deadline: soon)
        }
        expect(fast.exchanges, is: 5)
    }

    @Test func aFailureInTheMiddleKeepsItsStatus() throws {
        let channel = channel(ScriptedLink(["0161ff", "6982"]))
        let response = try channel.transmit(APDU(ins: 0xA1))
        #expect(response.status == .securityStatusNotSatisfied && response.data == [1])
    }

    // MARK: The channel

    struct Ping: CardCommand {
        static let name = "PING"
        let apdu = APDU(ins: 0x01)
        func decode(_ reader: inout ByteReader) throws(WireError) -> UInt8 { try reader.byte("a byte") }
    }

    struct Quiet: CardCommand {
        static let name = "QUIET"
        let apdu = APDU(ins: 0x02)
        typealias Response = Void
    }

    @Test func commandsAreTypes() throws {
        let channel = channel(ScriptedLink(["079000", "9000", "6a82", "9000"]))
        try expect(channel.send(Ping()), is: 7)
        #expect(throws: CardError.self) { try channel.send(Ping()) }
        #expect(throws: CardError.status(.notFound, during: "PING")) { try channel.send(Ping()) }
        try channel.send(Quiet())
        expect(channel.exchanges, is: 4)
    }

    @Test(arguments: ["6a82", "6999", "6a81", "6d00"])
    func aMissingApplication(status: String) {
        #expect(throws: CardError.appletMissing(.piv)) { try channel(ScriptedLink([status])).select(.piv) }
    }

    @Test func anotherRefusalOfSelect() {
        #expect(throws: CardError.status(.wrongLength, during: "SELECT OATH")) {
            try channel(ScriptedLink(["6700"])).select(.oath)
        }
    }

    @Test func theCardIsHeldUntilARest() throws {
        let log = ScriptedLink.Log()
        do {
            let channel = channel(ScriptedLink(["9000", "9000", "9000"], log: log))
            _ = try channel.select(.oath)
            _ = try channel.transmit(APDU(ins: 1))
            channel.rest()
            channel.rest()
            _ = try channel.transmit(APDU(ins: 2))
            expect(channel.applet, is: .oath)
        }
        expect(
            log.lines,
            is: [
                "begin", "00a4040007a000000527210100", "0001000000", "end", "begin", "0002000000", "close",
            ])
    }

    @Test func whatWasLostIsSelectedAndUnlockedAgain() throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(["019000", "029000", "9000", "9000"], log: log, isLost: [false, true])
        let channel = channel(link)
        _ = try channel.select(.oath)
        channel.continuation = 0xA5
        channel.onReselect = { reply throws(CardError) in
            expect(reply, is: [2])
            _ = try channel.transmit(APDU(ins: 0xA3))
        }
        channel.rest()
        _ = try channel.transmit(APDU(ins: 0xA1))
        expect(log.lines.suffix(4), is: ["begin", "00a4040007a000000527210100", "00a3000000", "00a1000000"])
        expect(channel.continuation, is: 0xA5)
        channel.onReselect = nil
    }

    @Test func aFailedReselectionIsTriedAgain() throws {
        let log = ScriptedLink.Log()
        let link = ScriptedLink(["9000", "6982", "9000", "9000"], log: log, isLost: [false, true, false])
        let channel = channel(link)
        _ = try channel.select(.oath)
        channel.rest()
        #expect(throws: CardError.self) { try channel.transmit(APDU(ins: 0xA1)) }
        _ = try channel.transmit(APDU(ins: 0xA1))
        expect(log.lines.suffix(2), is: ["00a4040007a000000527210100", "00a1000000"])
    }

    @Test func afterAResetTheApplicationIsSelectedAgain() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink(["9000", "9000", "9000"], log: log))
        _ = try channel.select(.oath)
        try channel.reset(.cold)
        _ = try channel.exchange(raw: [0, 1, 0, 0])
        expect(
            log.lines,
            is: [
                "begin", "00a4040007a000000527210100", "reset cold", "end", "begin", "00a4040007a000000527210100",
                "00010000",
            ])
    }

    /// pcscd resets the card for a program that ends, although this one has begun its transaction.
    @Test func aResetDuringSelectionIsRepeated() throws {
        let log = ScriptedLink.Log()
        var resets = [false, true, false, false, true, false, false, true, true][...]
        let channel = channel(
            ScriptedLink(log: log, isLost: [false, true, true, true]) { _ throws(LinkError) in
                if resets.popFirst() ?? false { throw .reset }
                return [0x90, 0]
            })
        let select = "00a4040007a000000527210100"
        _ = try channel.select(.oath)
        #expect(throws: CardError.link(.reset)) { try channel.transmit(APDU(ins: 0xA1)) }
        expect(log.lines, is: ["begin", select, "00a1000000", "end"])
        _ = try channel.transmit(APDU(ins: 0xA2))
        expect(log.lines.dropFirst(4), is: ["begin", select, "00a2000000"])
        channel.rest()
        _ = try channel.transmit(APDU(ins: 0xA3))
        expect(log.lines.dropFirst(7), is: ["end", "begin", select, "end", "begin", select, "00a3000000"])
        #expect(throws: CardError.link(.reset)) { try channel.select(.piv) }
        expect(
            log.lines.suffix(5),
            is: ["00a4040005a00000030800", "end", "begin", "00a4040005a00000030800", "end"])
    }

    @Test func aLinkFailureLetsGo() throws {
        let log = ScriptedLink.Log()
        let channel = channel(ScriptedLink([], log: log))
        #expect(throws: CardError.link(.removed)) { try channel.transmit(APDU(ins: 1)) }
        #expect(throws: CardError.link(.removed)) { try channel.exchange(raw: [0, 1, 0, 0]) }
        expect(log.lines, is: ["begin", "0001000000", "end", "begin", "00010000", "end"])
    }
}
