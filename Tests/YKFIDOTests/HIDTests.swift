// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A HID device that answers as a closure says.
final class ScriptedReports: ReportLink {
    let identity = ReportIdentity(path: "scripted")
    private var outgoing: [[UInt8]] = []
    private let answer: ([UInt8]) -> [[UInt8]]

    init(_ answer: sending @escaping ([UInt8]) -> [[UInt8]]) { self.answer = answer }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) { outgoing += answer(report) }
    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        guard !outgoing.isEmpty else { throw .timedOut("a report") }
        return outgoing.removeFirst()
    }
    func close() {}

    /// One report with this head.
    static func report(_ channel: UInt32, _ head: [UInt8], _ payload: [UInt8] = []) -> [UInt8] {
        let bytes = CTAPHID.Channel(rawValue: channel).bytes + head + payload
        return bytes + [UInt8](repeating: 0, count: 64 - bytes.count)
    }

    /// The answer to INIT: channel 7, CBOR and wink.
    static func initReply(to report: [UInt8], nonce: [UInt8]? = nil, channel: [UInt8] = [0, 0, 0, 7]) -> [UInt8] {
        let payload = (nonce ?? Array(report[7..<15])) + channel + [2, 1, 2, 3, 0x05]
        return Array(report[..<4]) + [0x86, 0, 17] + payload + [UInt8](repeating: 0, count: 40)
    }

    /// A device that answers INIT properly and everything else as the closure says.
    static func device(_ answer: sending @escaping ([UInt8]) -> [[UInt8]]) -> sending ScriptedReports {
        ScriptedReports { report in report[4] == 0x86 ? [initReply(to: report)] : answer(report) }
    }
}

struct HIDTests {
    private func call(_ link: HIDFIDOLink, _ payload: [UInt8] = [4]) throws(FIDOLinkError) -> [UInt8] {
        try link.call(.cbor, payload, deadline: .after(.seconds(5)), keepalive: { _ in })
    }

    @Test func speaksWithTheVirtualKey() async throws {
        let bench = try Bench()
        let service = try await FIDOService.open(hid: bench.key.reportLink(), environment: .instant)
        await expect(service.profile.deviceVersion, is: FirmwareVersion(5, 7, 1))
        let made = try await service.register(registration())
        _ = try AttestationVerification(rpID: "example.com").check(
            made.response.attestationObject, clientDataHash: hash)
        try await service.select()
        let u2f = try await service.u2fRegister(challengeHash: hash, applicationHash: hash)
        try u2f.verify(challengeHash: hash, applicationHash: hash)
    }

    @Test func tellsKeepalivesAndCancels() throws {
        let bench = try Bench(inputs: VirtualInputs(touch: { _ in .pending }))
        let environment = ServiceEnvironment.instant
        let link = try HIDFIDOLink(bench.key.reportLink(), environment: environment)
        var heard: [FIDOKeepalive] = []
        #expect(throws: FIDOLinkError.device(.cancelled)) {
            try link.call(.cbor, [0x0B], deadline: environment.deadline()) { status in
                heard.append(status)
                if heard.count == 3 { environment.cancellation.cancel() }
            }
        }
        expect(heard, is: [.touchNeeded, .touchNeeded, .touchNeeded])
        try expect(link.call(.cbor, [4], deadline: .after(.seconds(5)), keepalive: { _ in }).first, is: 0)
        try HIDFIDOLink(bench.key.reportLink(), environment: .instant).ping([UInt8](repeating: 7, count: 500))
    }

    @Test func passesOverOtherChannelsAndNonces() throws {
        let link = try HIDFIDOLink(
            ScriptedReports { report in
                guard report[4] != 0x86 else {
                    return [
                        ScriptedReports.report(9, [0x90, 0, 1], [1]), ScriptedReports.report(.max, [0x00], [1]),
                        ScriptedReports.initReply(to: report, nonce: [0, 0, 0, 0, 0, 0, 0, 0], channel: [1, 1, 1, 1]),
                        ScriptedReports.initReply(to: report),
                    ]
                }
                return [
                    ScriptedReports.report(9, [0x90, 0, 60], [1]), ScriptedReports.report(7, [0xBB, 0, 1], [1]),
                    ScriptedReports.report(7, [0x90, 0, 60], [0]), ScriptedReports.report(9, [0x00], [1]),
                    ScriptedReports.report(7, [0x00], [5]),
                ]
            }, environment: .instant)
        try expect(call(link).count, is: 60)
        #expect(link.profile.canWink && link.profile.hasCTAP2 && link.profile.hasU2F)
    }

    @Test func retriesWhileBusyAndMapsErrors() throws {
        var busy = 3
        let link = try HIDFIDOLink(
            ScriptedReports.device { _ in
                busy -= 1
                return [ScriptedReports.report(7, [0xBF, 0, 1], [busy > 0 ? 6 : 0x0A])]
            }, environment: .instant)
        #expect(throws: FIDOLinkError.refused(.lockRequired)) { try call(link) }
    }

    /// Wrong sequence, wrong length, no answer, another command: a typed error, and the channel is put in order.
    @Test(arguments: [
        [ScriptedReports.report(7, [0x90, 0, 200], [0]), ScriptedReports.report(7, [0x05], [0])],
        [ScriptedReports.report(7, [0x90, 0xFF, 0xFF], [0])], [ScriptedReports.report(7, [0x00], [0])],
        [ScriptedReports.report(7, [0x83, 0, 1], [0])], [ScriptedReports.report(7, [0xBF, 0, 0])], [],
        [[1, 2, 3]],
    ])
    func survivesNonsense(_ reports: [[UInt8]]) throws {
        var isFirst = true
        let resynchronised = Mutex(0)
        let link = try HIDFIDOLink(
            ScriptedReports { report in
                if report[4] == 0x86 {
                    if !isFirst { resynchronised.withLock { $0 += 1 } }
                    return [ScriptedReports.initReply(to: report)]
                }
                guard report[4] != 0x91 else { return [] }
                defer { isFirst = false }
                return isFirst ? reports : [ScriptedReports.report(7, [0x90, 0, 1], [0])]
            }, environment: .instant)
        #expect(throws: FIDOLinkError.self) { try call(link) }
        try expect(call(link), is: [0])
        expect(resynchronised.withLock { $0 }, is: 1)
    }

    @Test func refusesABadChannel() {
        for channel: [UInt8] in [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF]] {
            #expect(throws: FIDOLinkError.self) {
                try HIDFIDOLink(
                    ScriptedReports { [ScriptedReports.initReply(to: $0, channel: channel)] }, environment: .instant)
            }
        }
    }
}
