// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKOATH
import YKOTP
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// What was sent to a key.
final class Sent: Sendable {
    private let all = Mutex<[[UInt8]]>([])
    private let (stream, news) = AsyncStream.makeStream(of: [UInt8].self)
    var frames: [[UInt8]] { all.withLock { $0 } }

    func append(_ frame: [UInt8]) {
        all.withLock { $0.append(frame) }
        news.yield(frame)
    }

    /// Waits until such a frame was sent: what a caller is told may be quicker than what the key is sent. The time limit of
    /// the test ends the wait.
    func has(_ name: Comment, _ isWanted: ([UInt8]) -> Bool) async {
        if frames.contains(where: isWanted) { return }
        for await frame in stream where isWanted(frame) { return }
        Issue.record(name)
    }
}

/// A card that keeps what it was sent.
final class HeardCard: ForwardingCardLink {
    let link: any CardLink
    private let sent: Sent

    init(_ link: sending any CardLink, _ sent: Sent) {
        self.link = link
        self.sent = sent
    }

    /// As pcscd's link does, nothing is sent once the deadline is over or cancelled.
    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        try deadline.check("the card's answer")
        sent.append(command)
        return try link.exchange(command, deadline: deadline)
    }
}

/// A HID device that keeps what it was sent.
final class HeardReports: ForwardingReportLink {
    let link: any ReportLink
    private let sent: Sent

    init(_ link: sending any ReportLink, _ sent: Sent) {
        self.link = link
        self.sent = sent
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try deadline.check("the key to accept a report")
        sent.append(report)
        try link.write(report, deadline: deadline)
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try deadline.check("the key to accept a feature report")
        sent.append(report)
        try link.setFeature(report, deadline: deadline)
    }
}

/// `Task.cancel()` ends the exchange: the key is told to stop, and the call throws `cancelled`.
@Suite(.timeLimit(.minutes(5))) struct CancellationTests {
    private let request = RegistrationRequest(
        clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: "example.com"),
        user: FIDOUser(id: [1], name: "alice"))

    /// A key that waits for a touch until it is told to stop.
    private func waitingKey() throws -> VirtualKey {
        try VirtualKey.new(inputs: VirtualInputs(touch: { _ in .pending }))
    }

    /// Waits until the key said that it waits for a touch, and cancels.
    private func cancel<Value>(_ task: Task<Value, any Error>, after progress: AsyncStream<FIDOKeepalive>) async {
        for await status in progress where status == .touchNeeded { break }
        task.cancel()
    }

    @Test func anHIDKeyIsSentCTAPHIDCancel() async throws {
        let sent = Sent()
        let service = try await FIDOService.open(hid: HeardReports(try waitingKey().reportLink(), sent))
        let progress = service.progress
        let task = Task { [request] in _ = try await service.register(request) }
        await cancel(task, after: progress)
        await #expect(throws: FIDOError.ctap(.link(.device(.cancelled)))) { try await task.value }
        await sent.has("CTAPHID_CANCEL") { $0.count > 4 && $0[4] == 0x80 | 0x11 }
        #expect(try await service.info().versions.contains(.fido20), "the channel is in order")
    }

    @Test func aCardIsSentTheCancelOfNFCCTAP() async throws {
        let sent = Sent()
        let channel = CardChannel(link: HeardCard(try waitingKey().link(), sent))
        let service = try await FIDOService.open(card: channel)
        let progress = service.progress
        let task = Task { [request] in _ = try await service.register(request) }
        await cancel(task, after: progress)
        await #expect(throws: FIDOError.ctap(.link(.card(.link(.cancelled))))) { try await task.value }
        await sent.has("NFCCTAP_GETRESPONSE with P1 11") { $0.starts(with: [0x80, 0x11, 0x11]) }
        #expect(try await service.info().versions.contains(.fido20))
    }

    @Test func theCancellationOfTheEnvironmentReachesACardAsWell() async throws {
        let sent = Sent()
        let environment = ServiceEnvironment()
        let channel = CardChannel(link: HeardCard(try waitingKey().link(), sent), environment: environment)
        let interaction = FIDOInteraction(touch: { environment.cancellation.cancel() })
        let service = try await FIDOService.open(card: channel, interaction: interaction)
        await #expect(throws: FIDOError.ctap(.link(.card(.link(.cancelled))))) { try await service.register(request) }
        #expect(sent.frames.contains { $0.starts(with: [0x80, 0x11, 0x11]) })
    }

    @Test func aKeyboardIsMadeToGiveUp() async throws {
        let key = VirtualKey(
            .demonstration(version: FirmwareVersion(5, 7, 1)), inputs: VirtualInputs(touch: { _ in .pending }))
        let sent = Sent()
        let (touched, waits) = AsyncStream.makeStream(of: Void.self)
        let service = try await OTPService.open(HIDOTPLink(HeardReports(key.otpReportLink(), sent))) { waits.yield() }
        let secret = SharedSecret(Secret([UInt8](repeating: 7, count: 20)))
        try await service.program(.two, .hmac(key: secret, needsTouch: true))
        let task = Task { _ = try await service.hmac(.two, [1, 2, 3]) }
        for await _ in touched { break }
        task.cancel()
        await #expect(throws: OTPError.device(.cancelled)) { try await task.value }
        expect(sent.frames.last, is: OTPReport.abandonment)
    }

    @Test func aTaskThatIsCancelledSendsNothing() async throws {
        let sent = Sent()
        let key = VirtualKey.demonstration()
        let service = try await OATHService.open(CardChannel(link: HeardCard(key.link(), sent)))
        let count = sent.frames.count
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await service.accounts()
        }
        task.cancel()
        await #expect(throws: OATHError.card(.link(.cancelled))) { try await task.value }
        expect(sent.frames.count, is: count)
        #expect(try await !service.accounts().isEmpty, "others are not disturbed")
    }

    @Test func openingIsCancelled() async throws {
        let gate = Gate()
        let task = Task { try await Opened.piv.open(gate) }
        await gate.await(1)
        task.cancel()
        gate.open()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(!gate.isForced)
    }
}
