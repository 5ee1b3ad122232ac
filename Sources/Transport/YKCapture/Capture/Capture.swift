// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// A recorded session with a key: a header and the events in order. Its text form has one JSON object per line.
public struct Capture: Sendable, Hashable {
    /// What was recorded, and its environment.
    public var header: Header
    /// The events, in order.
    public var events: [Event]

    /// Creates a capture.
    public init(header: Header, events: [Event] = []) {
        self.header = header
        self.events = events
    }

    /// The first line of a capture. Unknown keys are kept.
    public struct Header: Sendable, Hashable {
        /// All keys as they are in the file.
        public var fields: JSONValue.Object

        /// Creates a header for a link of this kind.
        public init(link: LinkKind) {
            fields = JSONValue.Object()
            fields["capture"] = 1
            fields["link"] = .string(link.rawValue)
        }

        init(fields: JSONValue.Object) { self.fields = fields }

        /// The kind of link.
        public var link: LinkKind { LinkKind(rawValue: fields["link"]?.string ?? "") }
        /// The name of the reader.
        public var reader: String? {
            get { fields["reader"]?.string }
            set { fields["reader"] = newValue.map(JSONValue.string) }
        }
        /// The name reported by the key.
        public var device: String? {
            get { fields["device"]?.string }
            set { fields["device"] = newValue.map(JSONValue.string) }
        }
        /// The USB vendor and product numbers, in hexadecimal: `1050:0407`.
        public var usb: (vendor: UInt16, product: UInt16)? {
            get {
                let parts = fields["usb"]?.string?.split(separator: ":").map { UInt16($0, radix: 16) } ?? []
                guard parts.count == 2, let vendor = parts[0], let product = parts[1] else { return nil }
                return (vendor, product)
            }
            set {
                fields["usb"] = newValue.map { numbers in
                    .string(
                        [numbers.vendor, numbers.product]
                            .map { Hex.encode([UInt8($0 >> 8), UInt8($0 & 0xFF)]) }.joined(separator: ":"))
                }
            }
        }
        /// The answer to reset.
        public var atr: [UInt8]? {
            get { fields["atr"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["atr"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// Seconds since 1970 at the first event.
        public var clock: Int64? {
            get { fields["clock"]?.int }
            set { fields["clock"] = newValue.map(JSONValue.int) }
        }
        /// The random bytes that the host drew, in order; zeros in place of secret ones.
        public var random: [UInt8]? {
            get { fields["random"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["random"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// The secret random bytes, in order; only in a recording that keeps secrets.
        public var secretRandom: [UInt8]? {
            get { fields["secretRandom"]?.string.flatMap { try? Hex.decode($0) } }
            set { fields["secretRandom"] = newValue.map { .string(Hex.encode($0)) } }
        }
        /// The longest command APDU that the reader accepts, in bytes; a replay needs it to send the same commands.
        public var maxCommandLength: Int? {
            get { fields["maxCommandLength"]?.int.flatMap(Int.init(exactly:)) }
            set { fields["maxCommandLength"] = newValue.map { .int(Int64($0)) } }
        }
        /// Whether secrets were kept on request.
        public var keepsSecrets: Bool {
            get { fields["secrets"]?.bool ?? false }
            set { fields["secrets"] = newValue ? true : nil }
        }
        /// A note from the person who recorded it.
        public var note: String? {
            get { fields["note"]?.string }
            set { fields["note"] = newValue.map(JSONValue.string) }
        }
    }

    /// The kind of link a capture was made on.
    public struct LinkKind: OpenSet {
        /// The word in the file.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// APDUs to and from a smart card.
        public static let card = LinkKind(rawValue: "card")
        /// HID reports.
        public static let hid = LinkKind(rawValue: "hid")
        /// No key: only requests to servers.
        public static let http = LinkKind(rawValue: "http")
    }
}

/// The clock and the randomness of a session recorded by another tool, as far as they can be recovered from its
/// commands.
///
/// Without them, a replay could not send the same bytes: OATH sends the time in CALCULATE, and challenges in VALIDATE
/// and SET CODE.
extension Capture {
    struct Inputs: Sendable {
        /// The times of OATH CALCULATE ALL, in seconds since 1970, by the index of their events.
        private var all: [(index: Int, seconds: Int64)] = []
        /// The times of CALCULATE, computed with the account's period.
        private var single: [(index: Int, seconds: Int64)] = []
        /// The host's challenges in OATH VALIDATE and SET CODE, in order.
        private(set) var random: [UInt8] = []

        init() {}

        init(of capture: Capture) {
            for (index, command) in capture.oathCommands {
                switch command.ins {
                case OATHProtocol.Instruction.calculateAll:
                    Capture.timeStep(command.data, period: 30).map { all.append((index, $0)) }
                case OATHProtocol.Instruction.calculate:
                    Capture.timeOfCalculate(command.data).map { single.append((index, $0)) }
                case OATHProtocol.Instruction.validate, OATHProtocol.Instruction.setCode:
                    random += Capture.challenge(command.data) ?? []
                default: break
                }
            }
        }

        /// The time that the host needs from an event on in order to send the recorded bytes.
        func time(from position: Int) -> Int64? {
            let times = all.isEmpty ? single : all
            return (times.first { $0.index >= position } ?? times.last)?.seconds
        }
    }

    private var oathCommands: [(Int, APDU)] {
        var isOATH = false
        var commands: [(Int, APDU)] = []
        for (index, event) in events.enumerated() {
            guard case .exchange(let bytes, _) = event.kind, let command = try? APDU(decoding: bytes) else { continue }
            if command.isSelection {
                isOATH = AID.oath.matches(command.data)
            } else if isOATH {
                commands.append((index, command))
            }
        }
        return commands
    }

    private static func challenge(_ data: [UInt8]) -> [UInt8]? {
        (try? TLV.list(data))?.value(OATHProtocol.Tag.challenge)
    }

    private static func timeStep(_ data: [UInt8], period: Int64) -> Int64? {
        guard let challenge = challenge(data), challenge.count == 8 else { return nil }
        var reader = ByteReader(challenge)
        guard let step = try? reader.bigEndian(8), let signed = Int64(exactly: step) else { return nil }
        let (seconds, overflows) = signed.multipliedReportingOverflow(by: period)
        return overflows ? nil : seconds
    }

    private static func timeOfCalculate(_ data: [UInt8]) -> Int64? {
        guard let name = (try? TLV.list(data))?.value(OATHProtocol.Tag.name) else { return nil }
        let prefix = name.prefix { $0 != UInt8(ascii: "/") }
        let period = prefix.count < name.count ? Int64(String(decoding: prefix, as: UTF8.self)) : nil
        return timeStep(data, period: period ?? 30)
    }

    /// A problem in a capture, or a sign of a broken or careless recording.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The line, the header being line 1.
        public let line: Int
        /// Whether the capture is invalid; otherwise it is only suspicious.
        public let isError: Bool
        /// The problem, in a few words.
        public let reason: String

        /// The line and the reason, for display.
        public var description: String { "line \(line): \(reason)" }
    }

    /// Checks every line for problems that parsing alone does not reject.
    public func check() -> [Finding] {
        var findings = checkHeader()
        var redactor = Redactor()
        var latest = 0.0
        for (index, event) in events.enumerated() {
            var event = event
            if event.line == 0 { event.line = index + 2 }
            findings += event.check(link: header.link)
            if let time = event.milliseconds {
                if time < latest { findings.append(event.finding("the time goes back, from \(latest) to \(time) ms")) }
                latest = max(latest, time)
            }
            let masks = redactor.masks(event)
            if !header.keepsSecrets, event.shows(masks) {
                findings.append(event.finding("a secret that is not overwritten; run `ykit capture redact`"))
            }
        }
        if !events.contains(where: { if case .link = $0.kind { false } else { true } }) {
            findings.append(Finding(line: 1, isError: false, reason: "nothing was exchanged"))
        }
        return findings
    }

    /// The capture with its secrets overwritten, and no longer marked as containing any.
    public func redacted() -> Capture {
        var redactor = Redactor()
        var capture = self
        capture.events = events.map { redactor.redacted($0) }
        capture.header = header.redacted
        return capture
    }

    private func checkHeader() -> [Finding] {
        var findings: [Finding] = []
        let add = { (isError: Bool, reason: String) in
            findings.append(Finding(line: 1, isError: isError, reason: reason))
        }
        if let atr = header.atr {
            do { _ = try ATR(decoding: atr) } catch { add(false, "\"atr\" is not well-formed: \(error)") }
            if (try? ATR(decoding: atr))?.isChecksumValid == false { add(false, "\"atr\": the check byte is wrong") }
        } else if header.link == .card {
            add(false, "no \"atr\": it is unknown whether the card accepts extended lengths")
        }
        for key in ["device", "firmware", "reader", "note"] {
            if let value = header.fields[key], value.string == nil { add(true, "\"\(key)\" is not a string") }
        }
        if let value = header.fields["clock"], value.int == nil { add(true, "\"clock\" is not a whole number") }
        if let clock = header.clock, clock < 0 { add(false, "the clock is before 1970") }
        if header.keepsSecrets { add(false, "the recording contains secrets; do not share it") }
        return findings
    }
}

extension Capture.Event {
    fileprivate func finding(_ reason: String, isError: Bool = false) -> Capture.Finding {
        .init(line: line, isError: isError, reason: reason)
    }

    fileprivate func check(link: Capture.LinkKind) -> [Capture.Finding] {
        var findings: [Capture.Finding] = []
        if let milliseconds, milliseconds < 0 { findings.append(finding("\"ms\" is below 0", isError: true)) }
        switch kind {
        case .exchange(let command, let reply):
            findings += check(command, commandMask, "cm") + check(reply, replyMask, "rm")
            if link != .card { findings.append(finding("an APDU on a HID link", isError: true)) }
            if command.count < 4 { findings.append(finding("a command has at least four bytes", isError: true)) }
            if reply.count < 2 { findings.append(finding("the reply has no status word", isError: true)) }
            if command.count >= 4 { findings += checkAPDU(command) }
        case .written(let report), .featureSet(let report):
            findings += check(report, commandMask, "cm") + checkReport(report, link)
        case .delivered(let report), .featureGot(let report):
            findings += check(report, replyMask, "rm") + checkReport(report, link)
        case .http(let exchange):
            if case .answer(let status, _, _) = exchange.outcome, !(100...599).contains(status) {
                findings.append(finding("\(status) is not an HTTP status", isError: true))
            }
        case .link(let what, _):
            let known: [LinkEvent] = [.powerOn, .powerOff, .reset, .removed, .fail, .time]
            if !known.contains(what) { findings.append(finding("unknown event \"\(what.rawValue)\"")) }
        }
        return findings
    }

    private func checkAPDU(_ command: [UInt8]) -> [Capture.Finding] {
        do {
            _ = try APDU(decoding: command)
            return []
        } catch { return [finding("the command is not an APDU: \(error)")] }
    }

    private func checkReport(_ report: [UInt8], _ link: Capture.LinkKind) -> [Capture.Finding] {
        guard link == .hid else { return [finding("a HID report on a card link", isError: true)] }
        let isFeature = if case .featureSet = kind { true } else if case .featureGot = kind { true } else { false }
        let expected = isFeature ? 8 : 64
        return report.count == expected ? [] : [finding("a report of \(report.count) bytes, \(expected) is usual")]
    }

    private func check(_ bytes: [UInt8], _ masks: [Mask], _ key: String) -> [Capture.Finding] {
        var findings: [Capture.Finding] = []
        for mask in masks {
            if mask.length == 0 { findings.append(finding("\"\(key)\" has an empty range")) }
            if mask.end > bytes.count {
                findings.append(finding("\"\(key)\" goes beyond the \(bytes.count) bytes", isError: true))
            }
        }
        if bytes.masked(masks) != bytes {
            findings.append(finding("\"\(key)\" marks a secret that is not overwritten", isError: true))
        }
        return findings
    }

    /// Whether any byte in these ranges is present in clear.
    fileprivate func shows(_ masks: (command: [Mask], reply: [Mask])) -> Bool {
        switch kind {
        case .exchange(let command, let reply):
            command.masked(masks.command) != command || reply.masked(masks.reply) != reply
        case .written(let report), .featureSet(let report): report.masked(masks.command) != report
        case .delivered(let report), .featureGot(let report): report.masked(masks.reply) != report
        case .http(let exchange): exchange.redacted() != exchange
        case .link: false
        }
    }
}

extension Capture.Header {
    /// The header of the same recording with its secrets overwritten.
    package var redacted: Self {
        var header = self
        header.keepsSecrets = false
        header.secretRandom = nil
        return header
    }
}
