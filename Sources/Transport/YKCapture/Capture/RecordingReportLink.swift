// SPDX-License-Identifier: Apache-2.0

public import YKTransport

extension Recorder {
    /// Returns the HID device with its reports recorded in both directions; creates the file.
    public func recording(_ link: sending any ReportLink) throws(LinkError) -> sending any ReportLink {
        try begin(link.identity)
        return RecordingReportLink(link: link, recorder: self)
    }
}

/// A HID device that records every report and every failure in a capture.
final class RecordingReportLink: ForwardingReportLink {
    let link: any ReportLink
    private let recorder: Recorder

    init(link: any ReportLink, recorder: Recorder) {
        self.link = link
        self.recorder = recorder
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try recorder.noting(isWaiting: true) { () throws(LinkError) in try link.write(report, deadline: deadline) }
        try recorder.append(.init(.written(report)))
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try recorder.noting(isWaiting: true) { () throws(LinkError) in try link.read(deadline: deadline) }
        try recorder.append(.init(.delivered(report)))
        return report
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try recorder.noting(isWaiting: true) { () throws(LinkError) in
            try link.setFeature(report, deadline: deadline)
        }
        try recorder.append(.init(.featureSet(report)))
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        let report = try recorder.noting(isWaiting: true) { () throws(LinkError) in
            try link.feature(deadline: deadline)
        }
        try recorder.append(.init(.featureGot(report)))
        return report
    }

    func close() {
        link.close()
        try? recorder.append(.init(.link(.powerOff, why: nil)))
    }
}
