// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// An OTP application that answers frames from a recording made by another tool.
struct FeatureLookup {
    /// A recorded frame and the key's answers to it.
    private struct Transaction {
        var frame: [UInt8]
        var mask: [UInt8]
        var answers: [[UInt8]] = []
        /// The line of a redacted answer.
        var overwritten: Int?
        var isUsed = false

        /// Whether another frame is the same request: same command, and same payload outside the redacted bytes.
        func matches(_ other: [UInt8]) -> Bool {
            (0..<(OTPFrame.payloadSize + 1)).allSatisfy { mask[$0] != 0 || frame[$0] == other[$0] }
        }
    }

    private var transactions: [Transaction] = []
    private var status: [UInt8]
    private var assembler = OTPFrame.Assembler()
    private var outgoing: [[UInt8]] = []

    init(_ capture: Capture) {
        var assembler = OTPFrame.Assembler()
        var masks = OTPFrame.Assembler()
        var first: [UInt8]?
        for event in capture.events {
            switch event.kind {
            case .featureSet(let report):
                guard report.count == OTPReport.size, case .whole(let frame)? = try? assembler.add(report) else {
                    _ = try? masks.add(Self.shown(event.commandMask, report.last ?? 0))
                    continue
                }
                guard case .whole(let mask)? = try? masks.add(Self.shown(event.commandMask, report[7])) else {
                    continue
                }
                transactions.append(Transaction(frame: frame, mask: mask))
            case .featureGot(let report):
                if first == nil, report.last == 0 { first = report }
                guard !transactions.isEmpty else { continue }
                transactions[transactions.count - 1].answers.append(report)
                let isOpen = event.replyMask.isEmpty || capture.header.keepsSecrets
                if !isOpen { transactions[transactions.count - 1].overwritten = event.line }
            default: continue
            }
        }
        status = first ?? OTPReport.status([]).encoded
    }

    /// A report with the same flags and number, and FF in place of redacted bytes.
    private static func shown(_ masks: [Capture.Event.Mask], _ flags: UInt8) -> [UInt8] {
        (0..<7).map { index in masks.contains { $0.offset <= index && index < $0.end } ? 0xFF : 0 } + [flags]
    }

    /// Processes a report; the last one of a frame makes its answers available.
    mutating func set(_ report: [UInt8], _ replay: CaptureReplay) throws(LinkError) {
        let progress = try lift(LinkError.malformed) { () throws(WireError) in try assembler.add(report) }
        guard case .whole(let frame) = progress else {
            if progress == .reset { outgoing = [] }
            return
        }
        guard let index = transactions.firstIndex(where: { !$0.isUsed && $0.matches(frame) }) else {
            throw .replay(.init(line: 0, reason: "the recording has no unused slot frame like this one"))
        }
        transactions[index].isUsed = true
        if let line = transactions[index].overwritten {
            throw .replay(.overwritten("the reply to the challenge", line: line))
        }
        outgoing = transactions[index].answers
    }

    /// The next report of an answer, or else the latest status.
    mutating func next() throws(LinkError) -> [UInt8] {
        guard !outgoing.isEmpty else { return status }
        let report = outgoing.removeFirst()
        if report.last == 0 { status = report }
        return report
    }
}
