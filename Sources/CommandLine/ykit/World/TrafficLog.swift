// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKTransport
import YKWire

/// Says in words and in bytes what passes over a link, secrets overwritten.
struct TrafficLog {
    private let log: Log
    private var redactor = Redactor()
    private var narrator = Narrator()

    /// Begins with what the link is to.
    init(_ log: Log, to name: String) {
        self.log = log
        log.say(.info, "connected to '\(name)'")
    }

    /// Says what passed.
    mutating func say(_ kind: Capture.Event.Kind) {
        let event = Capture.Event(kind)
        let narration = narrator.narrate(event)
        log.say(.debug, narration.summary.printable)
        narration.details.forEach { log.say(.traffic, "  " + $0.printable) }
        for line in redactor.redacted(event).kind.lines { log.say(.traffic, line) }
    }

    /// Says why a command got no answer.
    mutating func fail(_ command: [UInt8], _ error: LinkError) {
        fail(narrator.narrate(command: command).summary.printable, error)
    }

    /// Says what could not be done, and why.
    func fail(_ doing: String, _ error: LinkError) { log.say(.info, "\(doing): \(error)") }
}

extension Capture.Event.Kind {
    /// The bytes, behind an arrow to the key or from it.
    fileprivate var lines: [String] {
        switch self {
        case .exchange(let command, let reply): ["> \(Hex.encode(command))", "< \(Hex.encode(reply))"]
        case .written(let report): ["> \(Hex.encode(report))"]
        case .delivered(let report): ["< \(Hex.encode(report))"]
        case .featureSet(let report): ["> \(Hex.encode(report)) (feature)"]
        case .featureGot(let report): ["< \(Hex.encode(report)) (feature)"]
        case .link: []
        }
    }
}
