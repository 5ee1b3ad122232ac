// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKTestSupport
import YKTransport
import YKWire

/// Logs as people paste them; `Tests/Peers/field.py` imports the ones in `captures/field`.
@Suite struct FieldImportTests {
    private func events(_ log: String, _ format: CaptureImport.Format? = nil) throws -> [String] {
        try words(try CaptureImport.read(Array(log.utf8), from: format).sessions.first?.capture)
    }

    private func words(_ capture: Capture?) throws -> [String] {
        (capture?.events ?? []).map { event in
            switch event.kind {
            case .exchange(let command, let reply): Hex.encode(command) + " " + Hex.encode(reply)
            case .written(let report): "> " + Hex.encode(report.prefix(8))
            case .delivered(let report): "< " + Hex.encode(report.prefix(8))
            case .link(let what, let why): what.rawValue + (why.map { ": " + $0 } ?? "")
            default: "?"
            }
        }
    }

    static let select = "00a4040008a0000006472f000100"
    static let cards: [(CaptureImport.Format, String)] = [
        (
            .opensc,
            "P:1; T:2 12:00:00.000 [opensc-tool] reader-pcsc.c:297:pcsc_transmit: \nOutgoing APDU (14 bytes):\n"
                + "00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00 .........G/...\n\n…\nIncoming APDU (8 bytes):\n"
                + "55 32 46 5F 56 32 90 00 U2F_V2..\n"
        ),
        (
            .opensc,
            "Outgoing APDU data [   14 bytes] =====================\n"
                + "00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00 .........G/...\n======\n"
                + "Incoming APDU data [    8 bytes] =====================\n55 32 46 5F 56 32 90 00 U2F_V2..\n"
        ),
        (
            .opensc,
            "Sending: 00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00 \nReceived (SW1=0x90, SW2=0x00):\n"
                + "55 32 46 5F 56 32                               U2F_V2\n"
        ),
        (
            .scdaemon,
            "2024-01-01 scdaemon[1] DBG:  raw apdu: 00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00\n"
                + "2024-01-01 scdaemon[1] DBG:  response: sw=9000  datalen=6\n2024-01-01 scdaemon[1] DBG:  dump:  5532465f5632\n"
        ),
        (
            .scdaemon,
            "DBG:  PCSC_data: 00a4040008a0000006472f000100\nDBG:  response: sw=6103  datalen=3\n"
                + "DBG:  dump: 55 32 46\nDBG: more: sw=9000  datalen=3\nDBG: dump: 5F 56 32\n"
        ),
        (
            .yubikeyRS,
            "[TRACE yubikey::transaction] >>> [0, 164, 4, 0, 8, 160, 0, 0, 6, 71, 47, 0, 1, 0]  "
                + "[TRACE yubikey::apdu] <<< Response { status_words: Success, data: [85, 50, 70, 95, 86, 50] }"
        ),
        (
            .libwebauthn,
            "TRACE libwebauthn::transport::nfc: TX: [0, 164, 4, 0, 8, 160, 0, 0, 6, 71, 47, 0, 1, 0]\n"
                + "TRACE libwebauthn::transport::nfc: RX: [85, 50, 70, 95, 86, 50, 144, 0]\n"
        ),
        (
            .webauthnRS,
            "TRACE webauthn_authenticator_rs::nfc: &gt;&gt;&gt; \(select)\n"
                + "TRACE webauthn_authenticator_rs::nfc: &lt;&lt;&lt; 5532465f56329000\n"
        ),
        (
            .keyroost,
            "    >  fido >> SELECT\n    >  fido >> 00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00\n"
                + "    <  fido << 55 32 46 5F 56 32 90 00\n    <  fido << SW = 90 00 (success)\n"
        ),
        (
            .yubicoPIVTool,
            "using reader 'x'.\n> 00 a4 04 00 08 a0 00 00 06 47 2f 00 01 00 \n< 55 32 46 5f 56 32 90 00 \n"
        ),
        (
            .globalPlatformPro,
            "A>> T=1 (4+0008) 00A40400 08 A0000006472F0001 00\nA<< (0006+2) (22ms) 5532465F5632 9000\n"
        ),
        (
            .ykneomgr,
            " --> 14: 00 a4\n Command --> 00A4040008A0000006472F000100\n Wrapped command --> 00\n"
                + " Response <-- 5532465F56329000\n"
        ),
        (
            .windows,
            "Reader: X\n\nRequest: 14 bytes\n0x00A4040008A0000006472F000100\n\nResponse data: 6 bytes\n"
                + "0x5532465F5632\n\nApdu Status: 0x9000\n"
        ),
        (
            .conformance,
            "nfcdep.js:238 [NFC] ---> DATA SENT: \(select)\nnfcdep.js:243 [NFC] <--- DATA RECEIVED: 5532465f56329000"
        ),
        (
            .pcscd,
            "00000003 -> 000001 6F 0E 00 00 00 00 05 00 00 00 00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00 \n"
                + "00000910 <- 000001 80 08 00 00 00 00 05 00 00 00 55 32 46 5F 56 32 90 00 \n"
        ),
        (
            .pcscd,
            "Nov 21 10:00:00 h pcscd[1]: 00000003 APDU: 00 A4 04 00 08 A0 00 00 06 47 2F 00 01 00 "
                + "Dec 01 10:00:00 h pcscd[1]: 00000009 SW: 55 32 46 5F 56 32 90 00 \n"
        ),
        (
            .ykman,
            "DEBUG [ykman.driver_ccid.send_apdu:200] SEND: b'\(select)'\n"
                + "DEBUG [ykman.driver_ccid.send_apdu:202] RECV: b'5532465f56329000'\n"
        ),
        (
            .libfido2,
            "fido_pcsc_write: writing: buf=0x7f, len=14\n0000: 00 a4 04 00 08 a0 00 00 06 47 2f 00 01 00\n"
                + "fido_pcsc_write: read: buf=0x5e, len=8\n0000: 55 32 46 5f 56 32 90 00\n"
        ),
    ]

    /// Each format is recognized, with any prefix, indent and line end, and quoted.
    @Test(arguments: cards.indices)
    func recognizes(_ index: Int) throws {
        let (format, log) = Self.cards[index]
        let expected = [Self.select + " 5532465f56329000"]
        var variants = [log, log.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")]
        for prefix in ["> ", "    "] + (format == .yubicoPIVTool ? [] : ["12:00:00.123  ", "host prog[12]: "]) {
            variants.append(
                log.split(separator: "\n", omittingEmptySubsequences: false).map { prefix + $0 }.joined(separator: "\n")
            )
        }
        variants.append(
            "A report.\n```\n" + log.split(separator: "\n").joined(separator: "\ndebug1: foreign\n") + "\n```\nThanks!")
        for variant in variants {
            let read = try CaptureImport.read(Array(variant.utf8))
            #expect(read.format == format && read.skipped.isEmpty, "\(variant)")
            expect(read.sessions.count, is: 1)
            try expect(
                words(read.sessions[0].capture).filter { $0.contains(" ") && !$0.hasPrefix("power") }, is: expected,
                "\(variant)")
        }
    }

    /// The words that python-fido2 0.9 to 1.2 prints for every status word with a known first byte.
    @Test func undoesShiftedStatusWords() throws {
        for first in [0x61, 0x62, 0x63, 0x67, 0x69, 0x6A, 0x6C, 0x6D, 0x6E, 0x6F, 0x90] as [UInt32] {
            for second in [0, 1, 2, 3, 5, 0x0A, 0x10, 0x18, 0x22, 0x82, 0xC3, 0xFF] {
                let shift = 8 + second
                let digits =
                    String(first << (shift % 4), radix: 16, uppercase: true) + String(repeating: "0", count: shift / 4)
                let log = "Level 5:fido2.pcsc:SEND: 80108000010400\nLevel 5:fido2.pcsc:RECV: 00a0 SW=\(digits)\n"
                let word = Hex.encode([UInt8(first), UInt8(second)])
                try expect(events(log), is: ["80108000010400 00a0" + word], "\(digits)")
            }
        }
        for digits in ["C3000", "12345", "900001", "F000000", "0C2000", "600000", "900"] {
            let log = "fido2.pcsc:SEND: 80108000010400\nfido2.pcsc:RECV: 00a0 SW=\(digits)\n"
            #expect(throws: CaptureError.self, "\(digits)") { try events(log) }
        }
    }

    /// A status word is never made up.
    @Test(
        arguments: [
            (.ykman, "ykman.pcsc.x SEND: 00a40400\nykman.pcsc.x RECV: 0102030405\n"),
            (
                .yubikeyRS,
                "yubikey::transaction >>> [0, 164, 4, 0]\nyubikey::apdu <<< Response { status_words: None, data: [] }"
            ),
            (
                .yubikeyRS,
                "yubikey::transaction >>> [0, 164, 4, 0]\nyubikey::apdu <<< Response { status_words: NewError, data: [] }"
            ),
            (
                .yubikeyRS,
                "yubikey::transaction >>> [0, 164, 4, 0]\nyubikey::apdu <<< Response { status_words: Success, data: [1, 2"
            ),
            (.keyroost, "piv >> 00 A4 04 00\npiv << 61 11 4F 06\n"),
            (.conformance, "DATA SENT: 00a40400\nDATA RECEIVED: 0102\n"),
            (.globalPlatformPro, "A>> T=1 (4+0000) 00A40400\nA<< (0001+2) (47ms) 9000\n"),
            (.scdaemon, "raw apdu: 00 CA 00 6E 00\nresponse: sw=9000  datalen=217\ndump:  4F 10 D2\n"),
            (.windows, "Request: 4 bytes\n0x00A40400\nResponse data: 8 bytes\n0x4649\nApdu Status: 0x9000\n"),
            (.opensc, "Sending: 00 A4 04 00 \nReceived (SW1=0x90)\n"),
        ] as [(CaptureImport.Format, String)])
    func refusesToGuess(format: CaptureImport.Format, log: String) {
        #expect(throws: CaptureError.self) { try events(log, format) }
        #expect(throws: CaptureError.self) { try events(log) }
    }

    @Test func skipsWhatIsBrokenAndReadsTheRest() throws {
        let log = """
            00000001 SW: 90 00
            00000001 APDU: 00 A4 04 00
            00000001 SW: 90 0
            00000001 APDU: 00 A1 00 00
            00000001 SW: 6A 82
            00000001 APDU: 00 CB 3F FF 05 5C
            """
        let read = try CaptureImport.read(Array(log.utf8))
        try expect(words(read.sessions.first?.capture).last, is: "00a10000 6a82")
        expect(read.skipped.map(\.line), is: [1, 3])
        let cut =
            "fido_tx: dev=0x1, cmd=0x06\nfido_tx: buf=0x1, len=8\n0000: 01 02 03 04 05 06 07 08\n"
            + "rx_preamble: buf=0x2, len=64\n0000: ff ff ff ff 86 00 11 01 02 03 04 05 06 07 08 00\n"
            + "0016: 00 00 02 02 05 04 03 05 00 00 00 00 00 00 00 00\n0032: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
            + "0048: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\nfido_rx: buf=0x3, len=17\n0000: 01 02"
        let half = try CaptureImport.read(Array(cut.utf8))
        try expect(words(half.sessions.first?.capture), is: ["> ffffffff86000801", "< ffffffff86001101"])
        expect(half.skipped.map(\.reason), is: ["the dump of fido_rx does not have the announced 17 bytes"])
    }

    @Test(arguments: [
        "tx: d=0029, cmd=0x86, buf=0029, count=8\n  4e bd 18 6d e7 67 61 de\nrx: initiation frame at 00D8, len 64\n"
            + "  ff ff ff ff 86 00 11 4e bd 18 6d e7 67 61 de 00\n  0e 00 08 02 05 01 02 05 00 00 00 00 00 00 00 00\n"
            + "  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
            + "tx: d=0029, cmd=0x90, buf=00D8, count=1\n  07\nrx: initiation frame at 00D8, len 64\n"
            + "  00 0e 00 08 90 00 01 30 00 00 00 00 00 00 00 00\n  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
            + "  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n",
        "fido_tx: d=0x5, cmd=0x06, buf=0x5, count=8\n0000: 4e bd 18 6d e7 67 61 de\n"
            + "fido_rx: d=0x5, cmd=0x06, buf=0x5, count=17, ms=-1\nrx_preamble: initiation frame at 0x7\n"
            + "0000: ff ff ff ff 86 00 11 4e bd 18 6d e7 67 61 de 00\n0016: 0e 00 08 02 05 01 02 05 00 00 00 00 00 00 00 00\n"
            + "0032: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n0048: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
            + "fido_tx: d=0x5, cmd=0x10, buf=0x7, count=1\n0000: 07\nrx_preamble: initiation frame at 0x7\n"
            + "0000: 00 0e 00 08 90 00 01 30 00 00 00 00 00 00 00 00\n0016: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
            + "0032: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n0048: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n",
    ])
    func libfido2BeforeOnePointSeven(_ log: String) throws {
        let expected = ["> ffffffff8600084e", "< ffffffff8600114e", "> 000e000890000107", "< 000e000890000130"]
        try expect(events(log), is: expected)
        for prefix in ["libfido2: ", "Nov 21 10:00:00 h systemd-homed[9]: libfido2: ", "14:07:32.928  ", "> "] {
            let prefixed = log.split(separator: "\n").map { prefix + $0 }.joined(separator: "\n\n")
            try expect(events(prefixed), is: expected)
        }
    }

    @Test func reportsInLines() throws {
        let nonce = "0807060504030201"
        let reply = "ffffffff860011\(nonce)0000000302010001" + "01" + String(repeating: "00", count: 40)
        let question = "ffffffff860008\(nonce)" + String(repeating: "00", count: 49)
        let expected = ["> ffffffff86000808", "< ffffffff86001108"]
        try expect(events("USB send: 00\(question)\nUSB write returned 65\nUSB recv: \(reply)"), is: expected)
        try expect(events("UHID_OUTPUT_REPORT): 00\(question)\n(UHID_INPUT2) send \(reply)"), is: expected)
        try expect(events("**HID DATA SENT:** \(question)\n**HID DATA RECEIVED:** \(reply)"), is: expected)
        let list = { (hex: String) in "\((try? Hex.decode(hex)) ?? [])" }
        try expect(
            events(
                "TRACE libwebauthn::transport::hid::channel: report=\(list("00" + question))\n"
                    + "TRACE libwebauthn::transport::hid::channel: report: \(list(reply))\n"), is: expected)
    }
}
