// SPDX-License-Identifier: Apache-2.0

package import YKProtocols
import YKWire

/// Describes the events of a capture; expects them in order.
///
/// It keeps track of SELECT, command chaining and response chaining. Secrets are never shown, whether or not the
/// capture was redacted. Never traps, whatever the input.
public struct Narrator: Sendable {
    private let applications: CardVocabularies
    private var redactor: Redactor
    private var applet: ApplicationNarrator?
    private var chain: (header: [UInt8], data: MaskedBytes)?
    private var pending: Pending?
    private var reports = ReportNarrator()

    /// A command whose reply arrives in parts: what has been received and not yet described.
    private struct Pending {
        let command: NarratedCommand
        let name: String
        let application: ApplicationNarrator?
        var data: MaskedBytes
        var parts: Int
        var total: Int
    }

    private let kind: Capture.LinkKind

    /// Starts before the first event of a session on a link of this kind.
    public init(_ kind: Capture.LinkKind = .card) { self.init(kind, .known) }

    /// Starts before the first event of a session with one of these applications.
    package init(_ kind: Capture.LinkKind = .card, _ applications: CardVocabularies) {
        self.kind = kind
        self.applications = applications
        redactor = Redactor(applications)
    }

    /// Describes an event.
    public mutating func narrate(_ event: Capture.Event) -> Narration {
        let found = redactor.masks(event)
        let commandMask = event.commandMask + found.command
        let replyMask = event.replyMask + found.reply
        switch event.kind {
        case .exchange(let command, let reply):
            return exchange(
                MaskedBytes(command, masks: commandMask), MaskedBytes(reply, masks: replyMask))
        case .written(let report): return reports.written(MaskedBytes(report, masks: commandMask))
        case .delivered(let report): return reports.delivered(MaskedBytes(report, masks: replyMask))
        case .featureSet(let report): return reports.featureSet(MaskedBytes(report, masks: commandMask))
        case .featureGot(let report): return reports.featureGot(MaskedBytes(report, masks: replyMask))
        case .http(let exchange): return Narration(exchange)
        case .link(let what, let why): return link(what, why)
        }
    }

    /// Describes a command that is not sent, or whose reply is unknown.
    public mutating func narrate(command bytes: [UInt8]) -> Narration {
        let masks = redactor.masks(command: bytes, reply: []).command
        return exchange(MaskedBytes(bytes, masks: masks), nil)
    }

    private mutating func link(_ what: Capture.Event.LinkEvent, _ why: String?) -> Narration {
        let words: [Capture.Event.LinkEvent: String] = [
            .powerOn: kind == .hid ? "the device is opened" : "the card is powered",
            .powerOff: kind == .hid ? "the device is closed" : "the card is powered off",
            .reset: "the card is reset", .removed: "the key is removed", .fail: "the link fails",
            .time: "the host reads the clock",
        ]
        if [.powerOn, .powerOff, .reset, .removed].contains(what) {
            applet = nil
            chain = nil
            pending = nil
            reports = ReportNarrator()
        }
        let reason = why.map { ": " + MaskedBytes.quoted($0) } ?? ""
        guard let text = words[what] else {
            return Narration("unknown event \(MaskedBytes.quoted(what.rawValue))\(reason)", isKnown: false)
        }
        return Narration(text + reason)
    }

    private mutating func exchange(_ command: MaskedBytes, _ reply: MaskedBytes?) -> Narration {
        let response = reply.map { reply in
            (data: reply.prefix(reply.count - 2), status: StatusWord(decoding: reply))
        }
        let apdu: APDU
        do { apdu = try APDU(decoding: command.bytes) } catch {
            return malformed(command, error, response?.status)
        }
        let data = command[APDU.dataOffset(command.bytes)..<(APDU.dataOffset(command.bytes) + apdu.data.count)]
        if apdu.continues(in: applet?.vocabulary) { return rest(apdu, response) }
        pending = nil
        let narrated = NarratedCommand(apdu, data: (chained(apdu)?.data ?? MaskedBytes([])) + data)
        if apdu.cla & 0x10 != 0, apdu.cla & 0x80 == 0 || applet?.aid == .fido {
            return part(narrated, apdu, data.count, response?.status)
        }
        chain = nil
        if apdu.isSelection { return select(narrated, response) }
        return whole(narrated, response)
    }

    private func chained(_ command: APDU) -> (header: [UInt8], data: MaskedBytes)? {
        chain.flatMap { $0.header == command.chainHeader ? $0 : nil }
    }

    private mutating func part(
        _ command: NarratedCommand, _ apdu: APDU, _ count: Int, _ status: StatusWord?
    ) -> Narration {
        chain = (apdu.chainHeader, command.data)
        let name = applet?.phrase(command)?.0
        let text = "part of \(name ?? "instruction \(Hex.encode([command.ins]))"): \(count) bytes"
        return Narration(
            line(applet?.name, text, status, nil), application: applet?.name, isKnown: name != nil)
    }

    private mutating func whole(
        _ command: NarratedCommand, _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        let owner = applications.owner(of: command.apdu, data: command.data.bytes).map(ApplicationNarrator.init)
        let narration = applet ?? owner
        if applet?.aid != .fido, let (name, details) = SecurityDomainNarration.handshake(command) {
            return handshake(name, details, command, response)
        }
        if applet?.aid != .fido, command.isProtected { return protected(command, response) }
        guard let (name, details) = narration?.phrase(command) ?? GenericNarration.phrase(command) else {
            return unknown(command, response)
        }
        var result = Narration(
            line(
                applet?.name, name, response?.status, response?.status.flatMap { narration?.meaning($0, of: command) }),
            details: details, application: applet?.name)
        guard let response else { return result }
        if response.status?.isIncomplete(for: applet) == true {
            pending = Pending(
                command: command, name: name, application: applet, data: MaskedBytes([]), parts: 0, total: 0)
            result.details += collect(response.data)
        } else {
            result.details += Self.reply(response, to: command, narration)
        }
        return result
    }

    private func handshake(
        _ name: String, _ details: [String], _ command: NarratedCommand,
        _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        let reply = response.map { SecurityDomainNarration.reply($0.data, to: command) ?? [] } ?? []
        return Narration(
            line(applet?.name, name, response?.status, nil), details: details + reply, application: applet?.name)
    }

    /// Describes a command whose data and reply are encrypted, from its header.
    private func protected(
        _ command: NarratedCommand, _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        // Keeps the description of the header and drops that of the data.
        let header = NarratedCommand(command, data: MaskedBytes([]))
        let name = applet?.phrase(header)?.0 ?? "instruction \(Hex.encode([command.ins]))"
        let text = name.hasSuffix(" ") ? String(name.dropLast()) : name
        return Narration(
            line(applet?.name, text, response?.status, nil),
            details: SecurityDomainNarration.protected(command, response?.data), application: applet?.name)
    }

    private func unknown(
        _ command: NarratedCommand, _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        let place = applet.map { "of \($0.name)" } ?? "before any application was selected"
        let text = "unknown instruction \(Hex.encode([command.ins])) \(place)"
        var details = ["header \(command.header)"]
        if !command.data.isEmpty { details.append("data \(command.data.hex)") }
        if let data = response?.data, !data.isEmpty { details.append("reply \(data.hex)") }
        return Narration(
            line(nil, text, response?.status, nil), details: details, application: applet?.name, isKnown: false)
    }

    private static func reply(
        _ response: (data: MaskedBytes, status: StatusWord?), to command: NarratedCommand,
        _ narration: ApplicationNarrator?
    ) -> [String] {
        if response.data.isEmpty && (narration == nil || response.status != .ok) { return [] }
        if let narration { return narration.reply(response.data, to: command) }
        return response.data.isEmpty ? [] : ["reply \(response.data.hex)"]
    }

    /// Adds a part of a long reply and describes what is complete.
    private mutating func collect(_ data: MaskedBytes) -> [String] {
        guard var state = pending else { return [] }
        state.data = state.data + data
        state.parts += 1
        state.total += data.count
        let (lines, used) = state.application?.partialReply(state.data, to: state.command) ?? ([], 0)
        state.data = state.data.dropFirst(used)
        pending = state
        return lines
            + (data.isEmpty ? ["no data: no progress"] : ["part \(state.parts) of the reply: \(data.count) bytes"])
    }

    private mutating func rest(
        _ command: APDU, _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        let name = applet?.vocabulary.instructions[command.ins] ?? "GET RESPONSE"
        guard let state = pending else {
            let details = response.map { $0.data.isEmpty ? [] : ["reply \($0.data.hex)"] } ?? []
            let text = line(applet?.name, "\(name), with nothing pending", response?.status, nil)
            return Narration(text, details: details, application: applet?.name)
        }
        let text = line(applet?.name, "\(name): the rest of \(state.name)", response?.status, nil)
        var result = Narration(text, application: applet?.name)
        guard let response else { return result }
        result.details = collect(response.data)
        if response.status?.isIncomplete(for: applet) == true { return result }
        guard let state = pending else { return result }
        pending = nil
        result.details.append("\(state.total) bytes in \(state.parts) parts")
        result.details += Self.reply((state.data, response.status), to: state.command, state.application)
        return result
    }

    private mutating func select(
        _ command: NarratedCommand, _ response: (data: MaskedBytes, status: StatusWord?)?
    ) -> Narration {
        let known = applications.selected(by: command.apdu).map(ApplicationNarrator.init)
        let name = known?.name ?? "unknown application \(command.data.hex)"
        var result = Narration(
            line(nil, "SELECT \(name)", response?.status, response?.status == .notFound ? "no such application" : nil),
            application: known?.name, isKnown: known != nil)
        if response?.status.map({ $0 == .ok || $0.bytesRemaining != nil }) ?? true {
            applet = known
            if let data = response?.data { result.details = known?.selected(data) ?? [] }
        }
        return result
    }

    private mutating func malformed(_ bytes: MaskedBytes, _ error: WireError, _ status: StatusWord?) -> Narration {
        chain = nil
        pending = nil
        var name: String?
        if let header = try? APDU(decoding: Array(bytes.bytes.prefix(4))) {
            let command = NarratedCommand(header, data: MaskedBytes([]))
            name =
                header.isSelection
                ? "SELECT" : (applet?.phrase(command) ?? GenericNarration.phrase(command))?.0
        }
        let text = line(applet?.name, "\(name ?? "command"), malformed (\(error))", status, nil)
        return Narration(
            text, details: ["bytes \(bytes.hex)"], application: applet?.name, isKnown: name != nil)
    }

    private func line(_ application: String?, _ text: String, _ status: StatusWord?, _ meaning: String?) -> String {
        let start = (application.map { "\($0) " } ?? "") + text
        guard let status else { return start }
        return "\(start) → \(meaning.map { "\(status.hex) (\($0))" } ?? status.words)"
    }
}

extension APDU {
    var chainHeader: [UInt8] { [cla & ~0x10, ins, p1, p2] }
}

extension StatusWord {
    init?(decoding reply: MaskedBytes) {
        guard reply.count >= 2 else { return nil }
        self.init(UInt16(reply[reply.count - 2]) << 8 | UInt16(reply[reply.count - 1]))
    }

    var words: String {
        meaning == nil && sw1 >> 4 != 6 && sw1 >> 4 != 9 ? "\(hex) (not an ISO 7816 status word)" : description
    }

    func isIncomplete(for applet: ApplicationNarrator?) -> Bool {
        bytesRemaining != nil || applet?.aid == .fido && self == .stillWorking
    }
}
