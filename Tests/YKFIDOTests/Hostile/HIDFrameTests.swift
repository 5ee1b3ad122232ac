// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKFIDO

/// A HID device whose reports never end: each read gives what a closure makes of the last request.
private final class EndlessReports: ReportLink {
    let identity = ReportIdentity(path: "endless")
    let written: Written
    private var last: [UInt8] = []
    private let answer: ([UInt8]) throws(LinkError) -> [UInt8]

    /// The commands that were written.
    final class Written: Sendable {
        private let state = Mutex<[UInt8]>([])
        var commands: [UInt8] { state.withLock { $0 } }
        func add(_ command: UInt8) { state.withLock { $0.append(command) } }
    }

    init(_ written: Written = Written(), _ answer: sending @escaping ([UInt8]) throws(LinkError) -> [UInt8]) {
        self.written = written
        self.answer = answer
    }

    func write(_ report: [UInt8], deadline: Deadline) {
        if report[4] & 0x80 != 0 { written.add(report[4] & 0x7F) }
        last = report
    }
    func read(deadline: Deadline) throws(LinkError) -> [UInt8] { try answer(last) }
    func close() {}
}

struct HIDFrameTests {
    private typealias Reports = ScriptedReports

    /// An environment in which an answer has 20 milliseconds.
    private static var hasty: ServiceEnvironment {
        var environment = ServiceEnvironment.instant
        environment.timeout = .milliseconds(20)
        return environment
    }

    private func call(
        _ link: HIDFIDOLink, within time: Duration = .seconds(60)
    ) throws(FIDOLinkError) -> [UInt8] {
        link.stopGrace = .milliseconds(10)
        return try link.call(.cbor, [4], deadline: .after(time), keepalive: { _ in })
    }

    /// A device that says the same thing for ever once it has given a channel.
    private func endless(
        _ written: EndlessReports.Written = .init(), _ report: @escaping @Sendable () -> [UInt8]
    ) throws -> HIDFIDOLink {
        try HIDFIDOLink(
            EndlessReports(written) { last in last[4] == 0x86 ? Reports.initReply(to: last) : report() },
            environment: ServiceEnvironment.instant)
    }

    @Test(arguments: [
        Reports.report(7, [0xBB, 0, 1], [1]), Reports.report(7, [0xBB, 0, 1], [2]),
        Reports.report(7, [0xBB, 0, 1], [9]),
        Reports.report(7, [0xBB, 0, 0]), Reports.report(7, [0xBB, 0, 57]), Reports.report(9, [0x90, 0, 1]),
        Reports.report(9, [0x00]), Reports.report(7, [0x90, 0, 200]),
    ])
    func whatNeverEndsEndsInTime(_ report: [UInt8]) throws {
        let written = EndlessReports.Written()
        let link = try endless(written) { report }
        let waitsForTouch = report == Reports.report(7, [0xBB, 0, 1], [2])
        #expect(throws: waitsForTouch ? FIDOLinkError.notTouched : .device(.timedOut("an answer of the key"))) {
            try call(link, within: .milliseconds(300))
        }
        expect(written.commands, is: [0x06, 0x10, 0x11])
    }

    @Test func aBusyKeyIsNotAskedForEver() throws {
        let link = try endless { Reports.report(7, [0xBF, 0, 1], [0x06]) }
        // The time ends while the key is asked or while its answer is read.
        let ends = ["a busy key", "an answer of the key"].map { FIDOLinkError.device(.timedOut($0)) }
        let error = #expect(throws: FIDOLinkError.self) { try call(link, within: .milliseconds(300)) }
        expect(error.map(ends.contains), is: true)
    }

    @Test func aKeyThatKnowsNoChannelIsAskedForOneOnce() throws {
        let written = EndlessReports.Written()
        let link = try endless(written) { Reports.report(7, [0xBF, 0, 1], [0x0B]) }
        #expect(throws: FIDOLinkError.refused(.invalidChannel)) { try call(link) }
        expect(written.commands, is: [0x06, 0x10, 0x06, 0x10])
    }

    /// Everything that can come in place of the answer to INIT.
    @Test func noChannelWithoutAProperAnswer() {
        var answers: [@Sendable ([UInt8]) -> [UInt8]] = [
            { Reports.initReply(to: $0, nonce: [UInt8](repeating: 0, count: 8)) },
            { Reports.initReply(to: $0, nonce: Array($0[7..<14]) + [$0[14] ^ 1]) },
            { Reports.initReply(to: [0, 0, 0, 9] + $0.dropFirst(4)) },
            { Reports.initReply(to: $0, channel: [0, 0, 0, 0]) },
            { Reports.initReply(to: $0, channel: [255, 255, 255, 255]) },
        ]
        let fixed: [[UInt8]] = [
            Reports.report(.max, [0x86, 0xFF, 0xFF]), Reports.report(.max, [0x05]),
            Reports.report(.max, [0xBF, 0, 1], [0x06]), Reports.report(.max, [0xBF, 0, 1], [0x7F]),
            Reports.report(.max, [0xBF, 0, 0]), [], [UInt8](repeating: 0xFF, count: 65),
        ]
        for report in fixed { answers.append { _ in report } }
        for length in UInt8(0)..<17 {
            answers.append { report in
                var reply = Reports.initReply(to: report)
                reply[6] = length
                return reply
            }
        }
        for (index, answer) in answers.enumerated() {
            #expect(throws: FIDOLinkError.self, "answer \(index)") {
                try HIDFIDOLink(EndlessReports { answer($0) }, environment: Self.hasty)
            }
        }
    }

    /// Every command in place of the answer, and every error code.
    @Test func everyCommandAndEveryError() throws {
        for command in UInt8(0)..<0x80 where ![0x10, 0x3B, 0x3F].contains(command) {
            let link = try endless { Reports.report(7, [0x80 | command, 0, 1], [0]) }
            #expect {
                try call(link)
            } throws: { error in
                if case FIDOLinkError.malformed = error { true } else { false }
            }
        }
        for code in UInt8.min ... .max where ![0x06, 0x0B].contains(code) {
            let link = try endless { Reports.report(7, [0xBF, 0, 1], [code]) }
            #expect(throws: FIDOLinkError.refused(.init(rawValue: code))) { try call(link) }
        }
    }

    /// A key that starts anew in the middle of its answer, in every way that this can look, at every report of it.
    @Test func rebootsInMidMessage() throws {
        let whole = try CTAPHID.Message(.cbor, on: .init(rawValue: 7), [0] + [UInt8](repeating: 1, count: 299))
            .reports()
        let ends: [(name: String, reports: [[UInt8]], isWhole: Bool)] = [
            ("silence", [], false), ("another message", [Reports.report(7, [0x86, 0, 17])], false),
            ("an error", [Reports.report(7, [0xBF, 0, 1], [0x7F])], false), ("a short report", [[1, 2, 3]], false),
            ("zeros", [[UInt8](repeating: 0, count: 64)], false), ("from the start", whole, true),
            ("a keepalive and from the start", [Reports.report(7, [0xBB, 0, 1], [1])] + whole, true),
        ]
        for cut in 1..<whole.count {
            for end in ends {
                let answered = Mutex(false)
                let link = try HIDFIDOLink(
                    Reports { report in
                        guard report[4] != 0x86 else { return [Reports.initReply(to: report)] }
                        guard report[4] == 0x90 else { return [] }
                        let isFirst = answered.withLock { done in
                            defer { done = true }
                            return !done
                        }
                        return isFirst ? whole.prefix(cut) + end.reports : whole
                    }, environment: .instant)
                if end.isWhole {
                    try expect(call(link).count, is: 300)
                } else {
                    #expect(throws: FIDOLinkError.self, "\(end.name) after \(cut)") { try call(link) }
                }
                try expect(call(link).count, is: 300, "\(end.name) after \(cut)")
            }
        }
    }

    @Test func aKeyThatIsPulledOutIsGone() throws {
        for count in 0..<5 {
            let reads = Mutex(0)
            let link = try HIDFIDOLink(
                EndlessReports { last throws(LinkError) in
                    if last[4] == 0x86 { return Reports.initReply(to: last) }
                    let read = reads.withLock { number in
                        defer { number += 1 }
                        return number
                    }
                    guard read < count else { throw .removed }
                    return read == 0 ? Reports.report(7, [0x90, 1, 100]) : Reports.report(7, [UInt8(read - 1)])
                }, environment: .instant)
            #expect(throws: FIDOLinkError.device(.removed)) { try call(link) }
        }
    }

    @Test func devicesAnswerPingAndWink() throws {
        let link = try HIDFIDOLink(Reports.device { report in [report] }, environment: .instant)
        try link.ping([1, 2, 3])
        try link.wink()
        try link.lock(for: .seconds(200))
        expect(link.identity.path, is: "scripted")
        let liar = try HIDFIDOLink(
            Reports.device { report in [Array(report.dropLast(57)) + [9] + [UInt8](repeating: 0, count: 56)] },
            environment: .instant)
        #expect(throws: FIDOLinkError.self) { try liar.ping([1]) }
        let silent = try HIDFIDOLink(
            Reports { report in
                var reply = Reports.initReply(to: report)
                reply[23] = 0x08
                return [reply]
            }, environment: .instant)
        #expect(throws: FIDOLinkError.notCarried(.wink)) { try silent.wink() }
        #expect(!silent.profile.hasU2F && !silent.profile.hasCTAP2)
    }
}
