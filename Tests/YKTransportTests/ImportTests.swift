// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKTestSupport
import YKTransport
import YKWire

/// The logs are real ones: pcsc-lite 1.9.9 and ykman 5.9.2, with virtual cards behind vpcd.
@Suite struct ImportTests {
    private static let first = "Yubico YubiKey OTP+FIDO+CCID 00 00"
    private static let second = "Yubico YubiKey OTP+FIDO+CCID 01 00"

    private func sessions(
        _ name: String, _ format: CaptureImport.Format, keepsSecrets: Bool = false
    ) throws -> [String: Capture] {
        let list = try CaptureImport.sessions(in: Recordings.fixture(name), from: format, keepsSecrets: keepsSecrets)
        return Dictionary(uniqueKeysWithValues: list.map { ($0.label, $0.capture) })
    }

    private func commands(_ capture: Capture?) -> [String] {
        (capture?.events ?? []).compactMap { event in
            switch event.kind {
            case .exchange(let command, let reply): Hex.encode(command) + " " + Hex.encode(reply)
            case .link(let what, _): what.rawValue
            default: nil
            }
        }
    }

    @Test func pcscdWithTwoCardsAtOnce() throws {
        let sessions = try sessions("pcscd-two-cards.log", .pcscd)
        expect(sessions.keys.sorted(), is: [Self.first, Self.second])
        let piv = commands(sessions[Self.first]).suffix(13)
        let oath = commands(sessions[Self.second]).suffix(13)
        expect(piv.first, is: "00a4040005a000000308 61114f0600001000010079074f05a0000003089000")
        #expect(piv.dropFirst().first == "00200080080000000000000000 9000" && piv.last == "power-off")
        expect(oath.first, is: "00a4040007a0000005272101 790305040371084cafebabe01122339000")
        expect(oath.dropFirst(2).first, is: "00a1000000 9000")
        let capture = try #require(sessions[Self.first])
        expect(Hex.encode(capture.header.atr ?? []), is: "3bfd1300008131fe158073c021c057597562694b657940")
        #expect(capture.header.reader == Self.first && capture.check().filter { $0.isError }.isEmpty)
        expect(capture.events.first?.milliseconds, is: 0)
    }

    @Test func pcscdWithCommandsOnly() throws {
        let log =
            "00000003 APDU: 00 A4 04 00 05 A0 00 00 03 08 \n noise\n00002000 SW: 90 00 \n"
            + "Nov 21 host pcscd[12]: 00000003 APDU: 00 20 00 80 06 31 32 33 34 35 36\n00000100 SW: 63 C2\n"
        let capture = try Capture(importing: Array(log.utf8), from: .pcscd)
        expect(commands(capture), is: ["00a4040005a000000308 9000", "0020008006000000000000 63c2"])
        expect(capture.events.map(\.milliseconds), is: [0, 2.003])
    }

    @Test(arguments: CaptureImport.Format.allCases.filter { $0 != .usbmon })
    func aLineLongerThanAnyCommandIsRefused(_ format: CaptureImport.Format) {
        let log = Array("first\n00000001 APDU: ".utf8) + Array(repeatElement(UInt8(ascii: "0"), count: 1 << 18))
        #expect(throws: CaptureError(line: 2, "longer than 256 KiB, the limit for commands and replies")) {
            try CaptureImport.sessions(in: log, from: format)
        }
    }

    @Test func aLogWithManyClientsIsReadInOneGo() throws {
        var log = ""
        for client in 0..<20_000 {
            log += "00000001 winscard_svc.c:1:ContextThread() Received command: TRANSMIT from client \(client)\n"
            log += "00000001 [\(client)] APDU: 00 A4 04 00\n"
        }
        log += "00000001 APDU: 00 20 00 80\n00000001 [7] SW: 90 00\n"
        let capture = try Capture(importing: Array(log.utf8), from: .pcscd)
        expect(commands(capture).last, is: "00a40400 9000")
    }

    @Test func pcscdWithThreads() throws {
        let log = """
            00000001 [11] winscard_svc.c:1:ContextThread() Received command: CONNECT from client 8
            00000001 [11] winscard.c:1:SCardConnect() Attempting Connect to A using protocol: 3
            00000001 [22] winscard_svc.c:1:ContextThread() Received command: CONNECT from client 9
            00000001 [22] winscard.c:1:SCardConnect() Attempting Connect to B using protocol: 3
            00000001 [11] APDU: 00 A1 00 00
            00000001 [22] APDU: 00 A2 00 00
            00000001 [22] SW: 90 00
            00000001 [11] SW: 6A 82
            00000001 [11] APDU: 00 A3 00 00
            00000001 [11] winscard_svc.c:1:ContextThread() TRANSMIT for client 8, rv=SCARD_E_NOT_TRANSACTED
            """
        let list = try CaptureImport.sessions(in: Array(log.utf8), from: .pcscd)
        expect(
            list.map { commands($0.capture) },
            is: [
                ["power-on", "00a10000 6a82", "fail"], ["power-on", "00a20000 9000"],
            ])
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .pcscd) }
        expect(error?.reason, is: "the log has 2 cards, choose one: 1 'A', 2 'B'")
        try expect(commands(Capture(importing: Array(log.utf8), from: .pcscd, session: 2)).count, is: 2)
        #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .pcscd, session: 3) }
        #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: .pcscd, session: 0) }
    }

    @Test(arguments: ["pcsc-spy.log", "pcsc-spy-raw.log"])
    func spyWithTwoThreads(name: String) throws {
        let sessions = try sessions(name, .pcscSpy)
        let part = [
            "power-on", "00a4040005a000000308 61114f0600001000010079074f05a0000003089000",
            "00200080080000000000000000 9000", "00fd000000 0504039000", "reset",
        ]
        expect(commands(sessions[Self.first]), is: part + part)
        expect(
            commands(sessions[Self.second]),
            is: [
                "power-on", "00a4040007a0000005272101 790305040371084cafebabe01122339000",
                "00010000000021710a41636d653a616c6963657313210600000000000000000000000000000000000000 9000",
                "00a1000000 720b2141636d653a616c6963659000", "reset",
            ])
    }

    @Test func spyInColour() throws {
        let plain = String(decoding: Recordings.fixture("pcsc-spy.log"), as: UTF8.self)
        let coloured = plain.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "\u{1B}[01;31m\($0)\u{1B}[0m" }.joined(separator: "\r\n")
        #expect(
            try CaptureImport.sessions(in: Array(coloured.utf8), from: .pcscSpy)
                == CaptureImport.sessions(in: Array(plain.utf8), from: .pcscSpy))
    }

    @Test func ykman() throws {
        let pin = try Capture(importing: Recordings.fixture("ykman-pin.log"), from: .ykman)
        #expect(pin.header.reader == Self.first && pin.events.count == 11)
        #expect(commands(pin).contains("0024008000001000000000000000000000000000000000 9000"))
        // 03:38:54.937, then 03:38:55.28: the last number counts milliseconds.
        expect(pin.events.compactMap(\.milliseconds).max(), is: 540)
        let list = try Capture(importing: Recordings.fixture("ykman-list.log"), from: .ykman)
        var narrator = Narrator()
        let details = list.events.flatMap { narrator.narrate($0).details }
        #expect(details.contains("account Issuer8:user8@example.com, TOTP SHA-1"))
        expect(details.filter { $0.hasPrefix("account ") }.count, is: 13)
    }

    /// The PIN of every log is in it, and in no capture made of it.
    @Test(arguments: [
        ("pcscd-two-cards.log", CaptureImport.Format.pcscd), ("pcsc-spy.log", .pcscSpy), ("pcsc-spy-raw.log", .pcscSpy),
        ("ykman-pin.log", .ykman),
    ])
    func secretsStayBehind(name: String, format: CaptureImport.Format) throws {
        let pin = Hex.encode(Array("123456".utf8))
        let hidden = try CaptureImport.sessions(in: Recordings.fixture(name), from: format)
        #expect(!hidden.contains { $0.capture.text.contains(pin) })
        #expect(!hidden.contains { $0.capture.header.keepsSecrets })
        let kept = try CaptureImport.sessions(in: Recordings.fixture(name), from: format, keepsSecrets: true)
        #expect(kept.contains { $0.capture.text.contains(pin) })
        #expect(kept.filter { !$0.capture.header.keepsSecrets }.isEmpty)
    }

    /// Whatever line a log is cut at, there is a capture or an error, and what was complete is kept.
    @Test(arguments: [
        ("pcscd-two-cards.log", CaptureImport.Format.pcscd), ("pcsc-spy.log", .pcscSpy), ("pcsc-spy-raw.log", .pcscSpy),
        ("ykman-list.log", .ykman),
    ])
    func cutLogs(name: String, format: CaptureImport.Format) throws {
        let log = Recordings.fixture(name)
        let ends = log.indices.filter { log[$0] == UInt8(ascii: "\n") }
        for end in ends.filter({ $0 % 7 == 0 }) {
            do { _ = try CaptureImport.sessions(in: Array(log[..<end]), from: format) } catch {
                #expect(error.line >= 1)
            }
        }
    }

    @Test(arguments: [
        (CaptureImport.Format.pcscd, "00000001 APDU: 00 A4 0", 1), (.pcscd, "x\n00000001 SW: 90 00", 2),
        (.pcscd, "00000001 APDU: 00 A4 04 00 ...", 1), (.pcscd, "nothing here\n", 2), (.pcscd, "", 1),
        (.pcscd, "00000001 APDU: 00 A4\n00000001 SW: zz", 2), (.pcscd, "00000001 Card ATR: zz", 1),
        (.ykman, "TRAFFIC 00:00:00.0 [ykman.pcsc.x:1] SEND: 00a", 1),
        (.ykman, "\nTRAFFIC 00:00:00.0 [ykman.pcsc.x:1] RECV:  SW=9000", 2), (.ykman, "hello", 1),
        (.pcscSpy, "SCardTransmit\n i bSendLength 0x02 (2)\n i bSendBuffer\n i  0000 0G ", 4),
        (.pcscSpy, "SCardTransmit\n i bSendLength 0x02 (2)\n => Command successful. (SCARD_S_SUCCESS [0x00000000])", 3),
        (.pcscSpy, "AB@>|1|2|SCardTransmit\nAB@<|1|3|SCardTransmit|ok|0x00000000", 2), (.pcscSpy, "AB@x", 1),
    ])
    func brokenLogs(format: CaptureImport.Format, log: String, line: Int) {
        let error = #expect(throws: CaptureError.self) { try Capture(importing: Array(log.utf8), from: format) }
        expect(error?.line, is: line)
    }

    @Test func failedCallsAreEvents() throws {
        let send = "TRAFFIC 00:00:00.0 [ykman.pcsc.send:1] SEND: 00a10000\n"
        let receive = "TRAFFIC 00:00:00.0 [ykman.pcsc.send:1] RECV: 01 SW=9000\n"
        try expect(
            commands(Capture(importing: Array((send + send + receive).utf8), from: .ykman)),
            is: [
                "fail", "00a10000 019000",
            ])
        let spy = """
            SCardTransmit
             i bSendLength 0x00000002 (2)
             i  0000 00 A1                                           ..
             => Card was removed. (SCARD_W_REMOVED_CARD [0x80100069])  [0.1]
            SCardTransmit
             i bSendLength 0x00000002 (2)
             i  0000 00 A1                                           ..
             o bRecvLength 0x00000002 (2)
             o  0000 90 00                                           ..
             => Command successful. (SCARD_S_SUCCESS [0x00000000])  [0.1]
            SCardReconnect
             i dwInitialization: SCARD_UNPOWER_CARD (0x00000002)
             => Command successful. (SCARD_S_SUCCESS [0x00000000])  [0.1]
            """
        try expect(
            commands(Capture(importing: Array(spy.utf8), from: .pcscSpy)), is: ["fail", "00a1 9000", "power-off"])
        let raw =
            "AB@>|1|2|SCardTransmit\nAB@<|1|3|SCardTransmit|gone|0x80100069\n"
            + "AB@>|1|2|SCardTransmit\nAB@c\nAB@2\nAB@10\nAB@2\nAB@00 A1\nAB@1\nAB@10\nAB@2\nAB@90 00\n"
            + "AB@<|1|3|SCardTransmit|ok|0x00000000\n"
        try expect(commands(Capture(importing: Array(raw.utf8), from: .pcscSpy)), is: ["fail", "00a1 9000"])
        let pcscd = "00000001 APDU: 00 A1\n00000001 APDU: 00 A2\n00000001 SW: 90 00"
        try expect(commands(Capture(importing: Array(pcscd.utf8), from: .pcscd)), is: ["fail", "00a2 9000"])
    }
}
