// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The faults to inject on a link to a key: a list of rules, of which the first match applies to an exchange.
public struct FaultPlan: Hashable, Sendable {
    /// A fault.
    public enum Fault: Hashable, Sendable {
        /// The command arrives, but its reply does not.
        case drop
        /// The reply comes this much later.
        case delay(Duration)
        /// Only the first bytes of the response arrive.
        case truncate(Int)
        /// These bytes arrive instead of the response.
        case garbage([UInt8])
        /// The command does not arrive; this status word answers.
        case status(StatusWord)
        /// The reply, and every further part requested, always announces more; with or without data.
        case endless(withData: Bool)
        /// The key is removed before the command, and put back after a while or never.
        case remove(back: Duration?)
        /// The key is reset before the command.
        case reset
        /// The command does not arrive; this CTAP status answers.
        case ctap(UInt8)
        /// The key sends keepalives forever.
        case keepalives
        /// One report of the answer is lost; the first is 1.
        case dropReport(Int)
        /// The key is removed after this many reports of the answer, or transfers on the USB.
        case removeAfter(reports: Int)
        /// The answer comes on another channel.
        case channel
        /// The sequence numbers of the continuation reports, or of the message on the USB, are one too high.
        case sequence
        /// INIT is answered with a different nonce.
        case nonce
        /// The first report, or the message on the USB, announces this many bytes more than there are; fewer if
        /// negative.
        case length(Int)
        /// This many reports of another channel precede each report of the answer.
        case storm(Int)
        /// The command does not arrive; this CTAPHID error answers.
        case error(UInt8)
        /// This message and the next ones, this many in total, are answered with "channel busy".
        case busy(Int)
        /// The endpoint is halted before the answer.
        case stall

        /// The links on which the fault can occur.
        var links: Set<LinkKind> {
            switch self {
            case .removeAfter, .sequence, .length: [.reports, .reader]
            case .dropReport, .channel, .nonce, .storm, .error, .busy: [.reports]
            case .stall: [.reader]
            default: [.card, .reports, .reader]
            }
        }

        /// Whether the fault affects the reader's messages rather than the card's responses.
        package var isOfReader: Bool { links.contains(.reader) && !links.contains(.card) }
    }

    /// The kind of link to a key.
    public enum LinkKind: Hashable, Sendable {
        /// Command APDUs.
        case card
        /// FIDO HID reports.
        case reports
        /// Command APDUs in the messages of a USB card reader.
        case reader
    }

    /// How long a key is gone.
    package enum Absence: Hashable, Sendable {
        /// It does not come back.
        case forGood
        /// It comes back after this long.
        case until(Duration)
    }

    /// The exchanges to which a fault applies.
    public enum Trigger: Hashable, Sendable {
        /// The exchange with this number; the first is 1.
        case at(Int)
        /// The exchange with this number and all after it.
        case from(Int)
        /// Commands that start with these bytes: all of them, or the one with this number; the first is 1.
        case on([UInt8], number: Int?)
        /// The report with this number that the host sends; the first is 1.
        case report(Int)
    }

    /// A fault and its trigger.
    public struct Rule: Hashable, Sendable {
        /// The trigger.
        public let trigger: Trigger
        /// The fault.
        public let fault: Fault
        private var matches = 0

        /// Creates a rule.
        public init(_ trigger: Trigger, _ fault: Fault) {
            self.trigger = trigger
            self.fault = fault
        }

        mutating func fits(_ command: [UInt8], exchange: Int) -> Bool {
            switch trigger {
            case .at(let number): return exchange == number
            case .from(let number): return exchange >= number
            case .on(let start, let number):
                guard command.starts(with: start) else { return false }
                matches += 1
                return number.map { $0 == matches } ?? true
            case .report: return false
            }
        }
    }

    /// The rules in order.
    public private(set) var rules: [Rule]
    private var exchanges = 0
    private var reports = 0
    private var endless: Fault?

    /// Creates a plan; without rules there are no faults.
    public init(_ rules: [Rule] = []) { self.rules = rules }

    /// Returns the fault for the next exchange, if any.
    package mutating func next(_ command: [UInt8]) -> Fault? {
        exchanges += 1
        if let endless, command.count > 1, [0x00, 0x80].contains(command[0]), [0x11, 0xA5, 0xC0].contains(command[1]) {
            return endless
        }
        var found: Fault?
        for index in rules.indices where rules[index].fits(command, exchange: exchanges) {
            found = found ?? rules[index].fault
        }
        switch found {
        case .endless, .keepalives: endless = found
        default: endless = nil
        }
        return found
    }

    /// Returns the fault for the next report from the host, if any.
    mutating func nextReport() -> Fault? {
        reports += 1
        return rules.first { $0.trigger == .report(reports) }?.fault
    }

    /// The first rule that can never apply on this link, if any.
    public func misfit(on link: LinkKind) -> Rule? {
        rules.first { rule in
            if link != .reports, case .report = rule.trigger { return true }
            return !rule.fault.links.contains(link)
        }
    }
}
