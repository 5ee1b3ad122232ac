// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A keyboard that gives what a test wants, whatever it is asked.
final class ScriptedReports: ReportLink {
    let identity = ReportIdentity(path: "scripted")
    private let status: [UInt8]
    /// What comes after a whole frame; the last one comes again and again.
    private var answers: [[UInt8]]
    private var isAsked = false
    private var calls = 0
    /// The call that finds the device gone.
    private let removedAt: Int?

    init(status: [UInt8] = [0, 5, 7, 1, 3, 0x03, 0, 0], answers: [[UInt8]] = [], removedAt: Int? = nil) {
        self.status = status
        self.answers = answers
        self.removedAt = removedAt
    }

    private func count() throws(LinkError) {
        calls += 1
        if let removedAt, calls >= removedAt { throw .removed }
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try count()
        if report.last == 0x89 { isAsked = true }
        if report.last == 0x8F { isAsked = false }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        try count()
        try deadline.check("a report")
        guard isAsked else { return status }
        return answers.count > 1 ? answers.removeFirst() : answers.first ?? status
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) { throw .removed }
    func read(deadline: Deadline) throws(LinkError) -> [UInt8] { throw .removed }
    func close() {}
}
