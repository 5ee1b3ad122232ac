// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

/// Every return code of every call becomes its own error.
@Suite struct CodeTests {
    private static let lost: [UInt32] = [
        0x8010_0003, 0x8010_0013, 0x8010_0018, 0x8010_001D, 0x8010_001E, 0x8010_006A,
    ]

    @Test(arguments: lost) func aLostServiceIsNotRunningAndTriedTwiceAtMost(_ code: UInt32) {
        let fake = FakeLibrary()
        let service = fake.service { $0.establishContext = { _ in fake.note("try") + LONG(code) } }
        #expect(throws: LinkError.serviceNotRunning) { try service.readers(.soon) }
        expect(fake.count("try"), is: 1)
        let other = fake.service { $0.listReaders = { _, _, _ in fake.note("list") + LONG(code) } }
        #expect(throws: LinkError.serviceNotRunning) { try other.readers(.soon) }
        expect(fake.count("list"), is: 1)
        #expect(throws: LinkError.serviceNotRunning) { try other.readers(.soon) }
    }

    @Test(
        arguments: [
            (0x8010_000C, LinkError.noCard(reader: "R")), (0x8010_0069, .noCard(reader: "R")),
            (0x8010_0009, .unknownReader("R")), (0x8010_0017, .unknownReader("R")), (0x8010_002E, .noReader),
            (0x8010_0066, .unresponsive("R: SCARD_W_UNRESPONSIVE_CARD")),
            (0x8010_0067, .unresponsive("R: SCARD_W_UNPOWERED_CARD")),
            (0x8010_0065, .unresponsive("R: SCARD_W_UNSUPPORTED_CARD")),
            (0x8010_001C, .unresponsive("R: SCARD_E_CARD_UNSUPPORTED")),
            (0x8010_000F, .unresponsive("R: SCARD_E_PROTO_MISMATCH")),
            (0x8010_0010, .unresponsive("R: SCARD_E_NOT_READY")),
            (0x8010_001D, .serviceNotRunning),
            (0x8010_0001, .failed(code: 0x8010_0001, "SCardConnect")), (0x1234, .failed(code: 0x1234, "SCardConnect")),
        ] as [(UInt32, LinkError)])
    func connecting(_ code: UInt32, _ error: LinkError) {
        let service = FakeLibrary().service { $0.connect = { _, _, _, _, _, _ in LONG(code) } }
        #expect(throws: error) { try service.connect(reader: "R", share: .shared, deadline: .soon) }
    }

    @Test func sharingViolationsNameWhoMayHoldIt() {
        let service = FakeLibrary().service { $0.connect = { _, _, _, _, _, _ in LONG(0x8010_000B) } }
        #expect {
            try service.connect(reader: "R", share: .exclusive, deadline: .soon)
        } throws: { error in
            guard case .busy("R", _) = error as? LinkError else { return false }
            return true
        }
    }

    @Test(
        arguments: [
            (0x8010_0069, LinkError.removed), (0x8010_000C, .removed), (0x8010_0017, .removed), (0x8010_0009, .removed),
            (0x8010_0068, .reset), (0x8010_0066, .unresponsive("R: SCARD_W_UNRESPONSIVE_CARD")),
            (0x8010_0016, .unresponsive("R: SCARD_E_NOT_TRANSACTED")),
            (0x8010_0008, .malformed(WireError(.tooLarge, at: 0, "the reply is longer than any response APDU"))),
            (0x8010_006A, .serviceNotRunning), (0x8010_001E, .serviceNotRunning),
            (0x8010_0013, .serviceNotRunning), (0x8010_0004, .failed(code: 0x8010_0004, "SCardTransmit")),
        ] as [(UInt32, LinkError)])
    func exchanging(_ code: UInt32, _ error: LinkError) throws {
        let service = FakeLibrary().service { $0.transmit = { _, _, _, _, _, _ in LONG(code) } }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        _ = try link.begin(deadline: .soon)
        #expect(throws: error) { try link.exchange([0, 1, 2, 3], deadline: .soon) }
        link.end()
        if error == .removed {
            #expect(throws: LinkError.removed) { try link.begin(deadline: .soon) }
        } else {
            try expect(link.begin(deadline: .soon), is: true)
        }
        link.close()
    }

    @Test func aCardThatIsResetForEverIsResetAndNotALoop() throws {
        let fake = FakeLibrary()
        let service = fake.service { $0.beginTransaction = { _ in fake.note("begin") + LONG(0x8010_0068) } }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        #expect(throws: LinkError.reset) { try link.begin(deadline: .soon) }
        expect(fake.count("begin"), is: 5)
    }

    @Test func aFailedReconnectIsTheReason() throws {
        let service = FakeLibrary().service {
            $0.beginTransaction = { _ in LONG(0x8010_0068) }
            $0.reconnect = { _, _, _, _, _ in LONG(0x8010_0069) }
        }
        let link = try service.connect(reader: "R", share: .shared, deadline: .soon)
        #expect(throws: LinkError.removed) { try link.begin(deadline: .soon) }
        #expect(throws: LinkError.removed) { try link.reset(.warm, deadline: .soon) }
    }

    @Test func codesAreNumbersWhereTheyHaveNoName() {
        expect("\(PCSCCode(rawValue: 0x8010_0077))", is: "0x80100077")
        expect(PCSCCode(LONG(bitPattern: 0xFFFF_FFFF_8010_0069)), is: .removedCard)
    }
}
