// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCapture
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKKeys

/// Decorated links do what the links below do.
@Suite struct DecorationTests {
    /// A card that notes what is asked of it.
    final class NotedCard: CardLink {
        let notes = Notes()
        var identity: CardIdentity { CardIdentity(reader: "Noted", atr: [0x3B, 0x00]) }
        var resetsOnRelease: Bool {
            get { notes.all.contains("resetsOnRelease") }
            set { if newValue { notes.add("resetsOnRelease") } }
        }
        func exchange(_ command: [UInt8], deadline: Deadline) -> [UInt8] {
            notes.add(Hex.encode(command))
            return [0x90, 0x00]
        }
        func begin(deadline: Deadline) -> Bool {
            notes.add("begin")
            return true
        }
        func end() { notes.add("end") }
        func reset(_ kind: CardReset, deadline: Deadline) { notes.add("reset") }
        func close() { notes.add("close") }
    }

    final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A card behind a log and a plan is still reset when its user is done, so that no other program inherits a PIN.
    @Test func everyMemberReachesTheCardBelow() throws {
        let card = NotedCard()
        let notes = card.notes
        let log = TrafficLog { _, _ in }
        let link = PlanningLink(LoggingLink(card, log), ExchangePlan())
        link.resetsOnRelease = true
        #expect(link.resetsOnRelease)
        #expect(try link.begin(deadline: .after(.seconds(1))))
        _ = try link.exchange([0x00, 0xA4, 0x04, 0x00, 0x00], deadline: .after(.seconds(1)))
        try link.reset(.cold, deadline: .after(.seconds(1)))
        link.end()
        link.close()
        expect(link.identity.reader, is: "Noted")
        expect(notes.all, is: ["resetsOnRelease", "begin", "00a4040000", "reset", "end", "close"])
    }

    /// Links around others that change nothing.
    final class PlainReports: ForwardingReportLink {
        let link: any ReportLink
        init(_ link: sending any ReportLink) { self.link = link }
    }
    final class PlainFIDO: ForwardingFIDOLink {
        let link: any FIDOLink
        init(_ link: sending any FIDOLink) { self.link = link }
    }
    final class PlainOTP: ForwardingOTPLink {
        let link: any OTPLink
        init(_ link: sending any OTPLink) { self.link = link }
    }

    @Test func everyMemberReachesTheReportsBelow() throws {
        let key = try VirtualKey.new(serial: 7)
        let soon = Deadline.after(.seconds(600))
        let fido = PlainReports(key.reportLink())
        expect(fido.identity.product, is: key.reportLink().identity.product)
        let initialize: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0x86, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]
        try fido.write(initialize + [UInt8](repeating: 0, count: 49), deadline: soon)
        #expect(try fido.read(deadline: soon).dropFirst(7).starts(with: [1, 2, 3, 4, 5, 6, 7, 8]))
        fido.close()
        let keyboard = PlainReports(key.otpReportLink())
        try keyboard.setFeature([UInt8](repeating: 0, count: 7) + [0x8F], deadline: soon)
        try expect(keyboard.feature(deadline: soon).count, is: 8)
        keyboard.close()
    }

    @Test func everyMemberReachesTheApplicationsBelow() throws {
        let key = try VirtualKey.new(serial: 7)
        let inputs = ServiceEnvironment(timeout: .seconds(600))
        let soon = Deadline.after(.seconds(600))
        let fido = PlainFIDO(try HIDFIDOLink(key.reportLink(), environment: inputs))
        try expect(fido.call(.cbor, [0x04], deadline: soon) { _ in }.first, is: 0)
        #expect(fido.environment.timeout == .seconds(600) && fido.profile.carrier == .hid)
        expect(fido.generation, is: fido.link.generation)
        fido.rest()
        fido.close()
        let otp = PlainOTP(HIDOTPLink(key.otpReportLink(), environment: inputs))
        #expect(otp.environment.timeout == .seconds(600) && otp.carrier == .hid)
        try expect(otp.status(deadline: soon).version.major, is: 5)
        let serial = try otp.query(OTPCommand(rawValue: 0x10), [], reply: .bytes(4), deadline: soon) {}
        expect(serial, is: [0, 0, 0, 7])
        #expect(throws: OTPLinkError.self) {
            try otp.write(OTPCommand(rawValue: 0x05), [UInt8](repeating: 1, count: 52), deadline: soon)
        }
        otp.rest()
        otp.close()
    }
}
