// SPDX-License-Identifier: Apache-2.0

import Testing
import YKOTP
import YKTestSupport
import YKTransport
import YKWire

/// Keys whose status over a card is none, as firmware 5.0 to 5.2.4 has it: a 5.2.3 answered SELECT by AF5C6250C3A8, another
/// by A0A27B13F880 (Yubico.NET SDK's manual, commands-get-device-info and commands-query-fips-mode).
@Suite struct UnreliableStatusTests {
    /// A card with a management application of a version, and such a status.
    private static func link(
        _ status: String, management version: String?, log: ScriptedLink.Log = .init(), write: [UInt8] = [0x90, 0x00]
    ) -> ScriptedLink {
        let status = (try? Hex.decode(status)) ?? []
        return ScriptedLink(log: log) { command in
            switch command[1] {
            case 0xA4 where command.starts(with: [0x00, 0xA4]) && command.contains(0x47):
                version.map { Array("Virtual mgr - FW version \($0)".utf8) + [0x90, 0x00] } ?? [0x6A, 0x82]
            case 0xA4: status + [0x90, 0x00]
            case 0x03: status + [0x90, 0x00]
            case 0x01 where [0x30, 0x38].contains(command[2]): [UInt8](repeating: 7, count: 20) + [0x90, 0x00]
            case 0x01: write == [0x90, 0x00] ? status + write : write
            default: [0x6D, 0x00]
            }
        }
    }

    private static func service(
        _ status: String, management version: String?, log: ScriptedLink.Log = .init(), write: [UInt8] = [0x90, 0x00]
    ) async throws -> OTPService {
        let link = link(status, management: version, log: log, write: write)
        return try await OTPService.open(CardOTPLink(CardChannel(link: link)))
    }

    @Test(arguments: [
        ("AF5C6250C3A8", "5.2.3"), ("A0A27B13F880", "5.2.3"), ("050203000000", "5.2.3"), ("050000010300", "5.0.0"),
        ("050204010100", "5.2.4"), ("030500018507", "5.1.2"), ("050401010300", "5.7.1"),
    ])
    func slotsAreUnknown(status: String, version: String) async throws {
        let service = try await Self.service(status, management: version)
        await expect(service.version, is: FirmwareVersion(version))
        for slot in OTPSlot.allCases {
            let state = await service.state(of: slot)
            #expect(state.isProgrammed == nil && state.isTouchTriggered == nil)
        }
        await expect(service.status.isLightInverted, is: nil)
        try await expect(service.hmac(.two, [1]).count, is: 20, "a slot that works is refused as empty")
    }

    @Test(
        arguments: [
            ("050205010300", "5.2.5", true), ("050701010300", "5.7.1", true), ("030500018507", "3.4.0", true),
            ("040305010300", "4.3.5", true), ("030500018507", nil, true), ("AF5C6250C3A8", nil, false),
        ] as [(String, String?, Bool)])
    func otherStatusesAreBelieved(status: String, version: String?, isBelieved: Bool) async throws {
        let service = try await Self.service(status, management: version)
        await expect(service.status.isReliable, is: isBelieved)
        await expect((service.state(of: .one).isProgrammed != nil), is: isBelieved)
        await expect((service.version == nil), is: (version == nil && !isBelieved))
    }

    /// Whatever the sequence number seems to be, it confirms nothing; a status word refuses.
    @Test func writesAreNeitherConfirmedNorDenied() async throws {
        for status in ["AF5C6250C3A8", "A0A27B13F880", "0502030003A8"] {
            let service = try await Self.service(status, management: "5.2.3")
            try await service.program(.two, .hmac(key: shared("00"), needsTouch: false))
            #expect(await !service.status.isReliable)
        }
        let refusing = try await Self.service("AF5C6250C3A8", management: "5.2.3", write: [0x69, 0x82])
        await #expect(throws: OTPError.rejected(.configure2)) {
            try await refusing.program(.two, .hmac(key: shared("00"), needsTouch: false))
        }
    }

    /// The management application is asked before the other is selected, and a NEO is made to leave it.
    @Test func asksFirst() async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.service("030500018507", management: "3.4.0", log: log)
        await expect(service.version, is: FirmwareVersion(3, 5, 0))
        expect(log.text.map { $0.prefix(8) }, is: ["00a40400", "a4040008", "00a40400"])
    }
}
