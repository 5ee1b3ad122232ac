// SPDX-License-Identifier: Apache-2.0

package import YKTransport
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

extension FaultPlan {
    /// The result of an exchange.
    package enum Outcome: Hashable, Sendable {
        /// This reply, after this delay.
        case reply([UInt8], after: Duration)
        /// No reply.
        case silence
        /// The key is removed and comes back after a while or never.
        case removed(back: Duration?)
        /// The key must be reset.
        case reset
    }

    /// Forwards a command and applies the planned fault.
    package mutating func play(
        _ command: [UInt8], _ exchange: ([UInt8]) throws(LinkError) -> [UInt8]
    ) throws(LinkError) -> Outcome {
        switch next(command) {
        case nil: return .reply(try exchange(command), after: .zero)
        case .drop:
            _ = try exchange(command)
            return .silence
        case .delay(let duration): return .reply(try exchange(command), after: duration)
        case .truncate(let count): return .reply(Array(try exchange(command).prefix(max(0, count))), after: .zero)
        case .garbage(let bytes):
            _ = try exchange(command)
            return .reply(bytes, after: .zero)
        case .status(let status): return .reply(ResponseAPDU(status).encoded, after: .zero)
        case .endless(let withData):
            let data = [UInt8](repeating: 0, count: withData ? 32 : 0)
            return .reply(ResponseAPDU(StatusWord(0x61FF), data: data).encoded, after: .zero)
        case .ctap(let status): return .reply([status] + ResponseAPDU(.ok).encoded, after: .zero)
        case .keepalives: return .reply(ResponseAPDU(.stillWorking, data: [1]).encoded, after: .zero)
        case .remove(let back): return .removed(back: back)
        case .reset: return .reset
        case .dropReport, .removeAfter, .channel, .sequence, .nonce, .length, .storm, .error, .busy, .stall:
            return .reply(try exchange(command), after: .zero)
        }
    }

    /// The forms of a rule, for help texts and errors.
    public static let grammar = """
        WHEN: FAULT, several with ; between them
        WHEN is   at N | from N | on HEX | on HEX at N | report N
                  exchanges count from 1, HEX is how a command starts: 00a4 (an APDU), 9001 (FIDO HID: 80 and the
                  command, then its content); report N is the Nth report that the host sends
        FAULT is  drop | delay TIME | truncate N | garbage [HEX] | status HEX | keepalives | more | more empty
                  | remove [TIME] | reset
                  and over FIDO HID  drop N | remove after N | channel | sequence | nonce | longer N | shorter N
                  | storm N | error HEX | busy N      N counts reports of the answer, bytes, or times
                  and of a card reader on the USB  remove after N | sequence | longer N | shorter N | stall
        TIME is   a number with ms or s, as in 500ms
        """

    /// Parses rules such as `at 3: remove; on 00a2: status 6f00`; see ``grammar``.
    ///
    /// - Throws: `malformed` with the offset of the invalid rule.
    public init(parsing text: String) throws(WireError) {
        var rules: [Rule] = []
        var offset = 0
        for part in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == ";" || $0 == "\n" }) {
            let line = part.trimmed
            if !line.isEmpty { rules.append(try Self.rule(line, offset)) }
            offset += part.utf8.count + 1
        }
        self.init(rules)
    }

    private static func rule(_ line: String, _ offset: Int) throws(WireError) -> Rule {
        let halves = line.split(separator: ":", maxSplits: 1)
        if halves.count == 2, let trigger = trigger(halves[0].words), let fault = fault(halves[1].words) {
            return Rule(trigger, fault)
        }
        throw WireError(.malformed, at: offset, "not a fault rule: \"\(line)\"; a rule is \(grammar)")
    }

    private static func trigger(_ words: [Substring]) -> Trigger? {
        switch (words.first, words.count) {
        case ("at", 2): return positive(words[1]).map(Trigger.at)
        case ("from", 2): return positive(words[1]).map(Trigger.from)
        case ("report", 2): return positive(words[1]).map(Trigger.report)
        case ("on", 2): return bytes(words[1]).map { .on($0, number: nil) }
        case ("on", 4) where words[2] == "at":
            guard let start = bytes(words[1]), let number = positive(words[3]) else { return nil }
            return .on(start, number: number)
        default: return nil
        }
    }

    private static func fault(_ words: [Substring]) -> Fault? {
        switch (words.first, words.count) {
        case ("drop", 1): .drop
        case ("reset", 1): .reset
        case ("remove", 1): .remove(back: nil)
        case ("garbage", 1): .garbage([0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0xFF, 0x7F, 0x80])
        case ("more", 1): .endless(withData: true)
        case ("keepalives", 1): .keepalives
        case ("channel", 1): .channel
        case ("sequence", 1): .sequence
        case ("nonce", 1): .nonce
        case ("stall", 1): .stall
        case ("more", 2) where words[1] == "empty": .endless(withData: false)
        case ("remove", 3) where words[1] == "after": count(words[2]).map(Fault.removeAfter)
        case (let name?, 2): fault(name, words[1])
        default: nil
        }
    }

    private static func fault(_ name: Substring, _ word: Substring) -> Fault? {
        switch name {
        case "remove": time(word).map { .remove(back: $0) }
        case "delay": time(word).map(Fault.delay)
        case "truncate": count(word).map(Fault.truncate)
        case "garbage": bytes(word).map(Fault.garbage)
        case "status": status(word)
        case "drop": positive(word).map(Fault.dropReport)
        case "longer": positive(word).map(Fault.length)
        case "shorter": positive(word).map { .length(-$0) }
        case "storm": positive(word).map { .storm(min($0, 10_000)) }
        case "busy": positive(word).map(Fault.busy)
        case "error": bytes(word).flatMap { $0.count == 1 ? .error($0[0]) : nil }
        default: nil
        }
    }

    private static func status(_ word: Substring) -> Fault? {
        guard let bytes = bytes(word) else { return nil }
        return switch bytes.count {
        case 1: .ctap(bytes[0])
        case 2: .status(StatusWord(UInt16(bytes[0]) << 8 | UInt16(bytes[1])))
        default: nil
        }
    }

    private static func count(_ word: Substring) -> Int? { Int32(word).flatMap { $0 >= 0 ? Int($0) : nil } }

    private static func positive(_ word: Substring) -> Int? { count(word).flatMap { $0 > 0 ? $0 : nil } }

    private static func bytes(_ word: Substring) -> [UInt8]? {
        guard let bytes = try? Hex.decode(word), !bytes.isEmpty else { return nil }
        return bytes
    }

    private static func time(_ word: Substring) -> Duration? {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int32(digits) else { return nil }
        switch word.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s": return .seconds(number)
        default: return nil
        }
    }
}

extension Substring {
    fileprivate var words: [Substring] { split(whereSeparator: \.isWhitespace) }
}

/// A card link that injects planned faults.
package final class FaultyLink: ForwardingCardLink {
    package let link: any CardLink
    private var plan: FaultPlan
    private var isRemoved = false
    private var isLost = false

    /// Takes ownership of a link.
    package init(_ link: sending any CardLink, plan: FaultPlan) {
        self.link = link
        self.plan = plan
    }

    /// Sends a command, if the plan allows it, and returns the response as modified by the plan.
    package func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        if isRemoved { throw .removed }
        let link = link
        switch try plan.play(command, { bytes throws(LinkError) in try link.exchange(bytes, deadline: deadline) }) {
        case .reply(let bytes, let delay):
            try Pause.wait(delay, deadline, "waiting for a reply")
            return bytes
        case .silence:
            try Pause.wait(nil, deadline, "waiting for a reply")
            throw .timedOut("waiting for a reply")
        case .removed:
            isRemoved = true
            throw .removed
        case .reset:
            try link.reset(.cold, deadline: deadline)
            isLost = true
            throw .reset
        }
    }

    /// Locks other programs out of the card; throws `removed` for a removed key.
    package func begin(deadline: Deadline) throws(LinkError) -> Bool {
        if isRemoved { throw .removed }
        let wasReset = isLost
        isLost = false
        return try link.begin(deadline: deadline) || wasReset
    }

    /// Resets the card; throws `removed` for a removed key.
    package func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        if isRemoved { throw .removed }
        try link.reset(kind, deadline: deadline)
    }
}
