// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport

/// A HID device that says what passes over it.
final class LoggingReportLink: ReportLink {
    private let link: any ReportLink
    private var log: TrafficLog

    init(link: any ReportLink, log: Log) {
        self.link = link
        self.log = TrafficLog(log, to: link.identity.path)
    }

    var identity: ReportIdentity { link.identity }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        log.say(.written(report))
        try telling("writing a report") { () throws(LinkError) in try link.write(report, deadline: deadline) }
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try telling("reading a report") { () throws(LinkError) in try link.read(deadline: deadline) }
        log.say(.delivered(report))
        return report
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        log.say(.featureSet(report))
        try telling("setting a feature report") { () throws(LinkError) in
            try link.setFeature(report, deadline: deadline)
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try telling("getting a feature report") { () throws(LinkError) in
            try link.feature(deadline: deadline)
        }
        log.say(.featureGot(report))
        return report
    }

    private func telling<Value>(
        _ doing: String, _ body: () throws(LinkError) -> Value
    ) throws(LinkError) -> Value {
        do { return try body() } catch {
            log.fail(doing, error)
            throw error
        }
    }

    func close() { link.close() }
}
