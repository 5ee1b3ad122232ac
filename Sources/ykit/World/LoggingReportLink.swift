// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A HID device that says what passes over it, secrets overwritten.
final class LoggingReportLink: ReportLink {
    private let link: any ReportLink
    private let log: Log
    private var redactor = Redactor()
    private var narrator = Narrator()

    init(link: any ReportLink, log: Log) {
        self.link = link
        self.log = log
        log.say(.info, "connected to '\(link.identity.path)'")
    }

    var identity: ReportIdentity { link.identity }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        let masks = redactor.masks(.init(.written(report))).command
        say(narrator.narrate(.init(.written(report))), "> \(Hex.encode(report.masked(masks)))")
        do { try link.write(report, deadline: deadline) } catch {
            log.say(.info, "writing a report: \(error)")
            throw error
        }
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report: [UInt8]
        do { report = try link.read(deadline: deadline) } catch {
            log.say(.info, "reading a report: \(error)")
            throw error
        }
        say(narrator.narrate(.init(.delivered(report))), "< \(Hex.encode(report))")
        return report
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        let event = Capture.Event(.featureSet(report))
        say(narrator.narrate(event), "> \(Hex.encode(report.masked(redactor.masks(event).command))) (feature)")
        do { try link.setFeature(report, deadline: deadline) } catch {
            log.say(.info, "setting a feature report: \(error)")
            throw error
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report: [UInt8]
        do { report = try link.feature(deadline: deadline) } catch {
            log.say(.info, "getting a feature report: \(error)")
            throw error
        }
        let event = Capture.Event(.featureGot(report))
        say(narrator.narrate(event), "< \(Hex.encode(report.masked(redactor.masks(event).reply))) (feature)")
        return report
    }

    private func say(_ narration: Narration, _ bytes: String) {
        log.say(.debug, narration.summary.printable)
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
        log.say(.traffic, bytes)
    }

    func close() { link.close() }
}
