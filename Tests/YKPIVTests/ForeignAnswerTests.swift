// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKPIV
import YKTestSupport
import YKTransport
import YKWire

/// What cards of other makers were seen to answer, and recordings with gaps.
struct ForeignAnswerTests {
    /// Swissbit's iShield Key 2 Pro has a version of four bytes, and the same metadata for every slot (keyroost #113).
    @Test func versionOfFourBytesIsNoYubiKey() async throws {
        let log = ScriptedLink.Log()
        let metadata: [UInt8] = [0x01, 0x01, 0x14, 0x02, 0x02, 0x00, 0x01, 0x03, 0x01, 0x14, 0x90, 0x00]
        let service = try await ScriptedLink.service(version: [1, 2, 3, 4], log: log, [0xF7: metadata])
        #expect(await !service.identity.isYubiKey)
        guard case .untold(.some) = try await service.keyState(of: .authentication) else {
            Issue.record("impossible metadata is believed")
            return
        }
        #expect(log.commands.contains { $0[1] == 0xF7 }, "the card was not asked")
    }

    @Test(
        arguments: [
            ("TOKEN2 FIDO2 Security Key(0026) 00 00", [0x12, 0x34, 0x56, 0x78], 12_345_678),
            ("TOKEN2 FIDO2 Security Key(0026) 00 00", [0x12, 0x34, 0x56, 0x7A], 0x1234_567A),
            ("Yubico YubiKey 00 00", [0x00, 0xBC, 0x61, 0x4E], 12_345_678),
        ] as [(String, [UInt8], UInt32)])
    func serialAsPrinted(reader: String, bytes: [UInt8], serial: UInt32) async throws {
        let link = ScriptedLink(reader: reader, atr: ScriptedLink.unknown) { command in
            switch command[1] {
            case 0xA4: [0x90, 0x00]
            case 0xFD: [5, 7, 1, 0x90, 0x00]
            case 0xF8: bytes + [0x90, 0x00]
            default: [0x6A, 0x82]
            }
        }
        let service = try await PIVService.open(CardChannel(link: link, environment: .still))
        try await expect(service.serial(), is: serial)
    }

    @Test func factsThatARecordingLacks() async throws {
        let text = """
            {"capture":1,"link":"card","atr":"3bfd1300008131fe158073c021c057597562694b657940"}
            {"c":"00a4040005a000000308","r":"61114f0600001000010079074f05a0000003089000"}
            {"c":"00fd000000","r":"0507049000"}
            """
        let replay = CaptureReplay(try Capture(parsing: Array(text.utf8)), mode: .lookup)
        let service = try await PIVService.open(CardChannel(link: replay.link(), environment: .still))
        let report = try await service.report()
        expect(report.identity.version, is: FirmwareVersion(5, 7, 4))
        expect(report.unrecordedFacts, is: [.serial, .pin, .puk, .managementKey])
    }
}
