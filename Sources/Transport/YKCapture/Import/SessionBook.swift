// SPDX-License-Identifier: Apache-2.0

/// Collects the events of a log, one session per card or device.
struct SessionBook {
    private struct Page {
        var events: [Capture.Event] = []
        var atr: [UInt8]?
        var hasReader = false
        var device: String?

        var link: Capture.LinkKind { events.contains(where: \.isReport) ? .hid : .card }
        /// Whether the host sent a command or request.
        var isSession: Bool { events.contains { $0.isExchange || $0.isFromHost } }
    }

    private var labels: [String] = []
    private var pages: [String: Page] = [:]
    /// What could not be read, up to a limit.
    private(set) var skipped: [CaptureError] = []
    /// The maximum number of skipped pieces that are kept.
    private static let mostSkipped = 100

    /// The number of exchanges and reports.
    var eventCount: Int {
        pages.values.filter(\.isSession).reduce(0) { sum, page in
            sum + page.events.count { $0.isExchange || $0.isReport }
        }
    }

    /// Records a piece of the log that could not be read, and why.
    mutating func skip(_ error: CaptureError) {
        if skipped.count < Self.mostSkipped { skipped.append(error) }
    }

    /// The answer to reset of a card whose reader the log does not name.
    var commonATR: [UInt8]?

    mutating func exchange(_ label: String, command: [UInt8], reply: [UInt8], milliseconds: Double?) {
        add(.init(.exchange(command: command, reply: reply), milliseconds: milliseconds), to: label)
    }

    mutating func event(_ label: String, _ what: Capture.Event.LinkEvent, why: String? = nil, milliseconds: Double?) {
        add(.init(.link(what, why: why), milliseconds: milliseconds), to: label)
    }

    mutating func report(_ label: String, _ report: Capture.Event.Kind, milliseconds: Double?) {
        add(.init(report, milliseconds: milliseconds), to: label)
    }

    /// Records the name that a device reports.
    mutating func device(_ label: String, name: String) {
        open(label)
        pages[label]?.device = name
    }

    /// Records that a label belongs to a reader.
    mutating func reader(_ label: String, atr: [UInt8]? = nil) {
        open(label)
        pages[label]?.hasReader = true
        if let atr { pages[label]?.atr = atr }
    }

    private mutating func open(_ label: String) {
        guard pages[label] == nil else { return }
        labels.append(label)
        pages[label] = Page()
    }

    mutating func add(_ event: Capture.Event, to label: String) {
        open(label)
        pages[label]?.events.append(event)
    }

    /// The sessions in which the host sent something, with times relative to the first event and secrets overwritten.
    ///
    /// Empties the book, so that the events of a long log are never in memory twice.
    mutating func sessions(from format: CaptureImport.Format, keepsSecrets: Bool) -> [CaptureImport.Session] {
        var sessions: [CaptureImport.Session] = []
        for label in labels {
            guard var page = pages.removeValue(forKey: label), page.isSession else { continue }
            var header = Capture.Header(link: page.link)
            header.device = page.device
            if page.hasReader { header.reader = label }
            header.atr = page.atr ?? commonATR
            header.note = "imported from a \(format.rawValue) log"
            header.keepsSecrets = keepsSecrets
            let start = page.events.lazy.compactMap(\.milliseconds).first ?? 0
            var redactor = Redactor()
            var capture = Capture(header: header)
            capture.events = page.events
            page.events = []
            for index in capture.events.indices {
                var event = keepsSecrets ? capture.events[index] : redactor.redacted(capture.events[index])
                event.milliseconds = event.milliseconds.map { (($0 - start) * 1000).rounded() / 1000 }
                event.line = index + 2
                capture.events[index] = event
            }
            sessions.append(.init(label: label, capture: capture))
        }
        return sessions
    }
}

extension Capture.Event {
    /// Whether this is a command with its reply.
    package var isExchange: Bool { if case .exchange = kind { true } else { false } }

    /// Whether this is a report of any kind.
    fileprivate var isReport: Bool {
        switch kind {
        case .written, .delivered, .featureSet, .featureGot: true
        case .exchange, .http, .link: false
        }
    }

    /// Whether this is a report that the host sent or requested.
    fileprivate var isFromHost: Bool {
        switch kind {
        case .written, .featureSet, .featureGot: true
        case .delivered, .exchange, .http, .link: false
        }
    }
}
