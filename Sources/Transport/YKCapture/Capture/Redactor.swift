// SPDX-License-Identifier: Apache-2.0

package import YKProtocols
import YKTransport
package import YKWire

/// Finds the secret bytes of a session in both directions, using the tables of YKProtocols.
///
/// It keeps track of SELECT, command chaining and response chaining, because the same instruction may carry a secret in
/// one application and not in another. Masks data that it cannot parse.
package struct Redactor: Sendable {
    package typealias Mask = Capture.Event.Mask

    private let applications: CardVocabularies
    private var applet: (any CardVocabulary.Type)?
    private var hasSelected = false
    private var chain = Chain()
    private var answer: Answer?
    private var reading = NDEFProtocol.Reading()
    private var reports = ReportRedactor()

    /// The data of a chained command.
    private struct Chain {
        var header: [UInt8] = []
        var data: [UInt8] = []
    }

    /// A reply received in parts, and the command it answers.
    private struct Answer {
        let command: APDU
        let asked: [UInt8]
        var data: [UInt8] = []
    }

    /// Starts before the first event of a session.
    package init(_ applications: CardVocabularies = .known) { self.applications = applications }

    /// The event with its secrets overwritten and their ranges; existing masks are kept.
    package mutating func redacted(_ event: Capture.Event) -> Capture.Event {
        var event = event
        let found = masks(event)
        event.commandMask = Self.joined(event.commandMask + found.command)
        event.replyMask = Self.joined(event.replyMask + found.reply)
        switch event.kind {
        case .exchange(let command, let reply):
            event.kind = .exchange(
                command: command.masked(event.commandMask), reply: reply.masked(event.replyMask))
        case .written(let report): event.kind = .written(report.masked(event.commandMask))
        case .delivered(let report): event.kind = .delivered(report.masked(event.replyMask))
        case .featureSet(let report): event.kind = .featureSet(report.masked(event.commandMask))
        case .featureGot(let report): event.kind = .featureGot(report.masked(event.replyMask))
        case .http(let exchange): event.kind = .http(exchange.redacted())
        case .link: break
        }
        return event
    }

    /// The ranges to overwrite in an event.
    package mutating func masks(_ event: Capture.Event) -> (command: [Mask], reply: [Mask]) {
        switch event.kind {
        case .exchange(let command, let reply): return masks(command: command, reply: reply)
        case .written(let report): return (reports.masks(written: report), [])
        case .featureSet(let report): return (reports.masks(featureSet: report), [])
        case .featureGot(let report): return ([], reports.masks(featureGot: report))
        case .delivered(let report): return ([], reports.masks(delivered: report))
        case .http: return ([], [])
        case .link(let what, _):
            if [.powerOn, .powerOff, .reset, .removed].contains(what) { self = Redactor(applications) }
            return ([], [])
        }
    }

    /// The ranges to overwrite in a command and in its reply; an empty reply is treated as unknown.
    package mutating func masks(command bytes: [UInt8], reply: [UInt8]) -> (command: [Mask], reply: [Mask]) {
        guard let command = try? APDU(decoding: bytes) else {
            chain = Chain()
            answer = nil
            guard bytes.count > 4, applications.carriers.contains(bytes[1]) else { return ([], []) }
            return ([Mask(offset: 4, length: bytes.count - 4)], Self.body(reply))
        }
        if command.ins == ISO7816.select {
            select(command, reply)
            return ([], [])
        }
        if command.continues(in: applet) { return ([], replyMasks(reply)) }
        let runs = commandRuns(command)
        if !(applet?.aid == .fido && command.ins == FIDOProtocol.Instruction.getResponse && answer != nil) {
            answer = Answer(command: command, asked: chain.data)
        }
        if !command.isPartOfChain { chain = Chain() }
        let start = APDU.dataOffset(bytes)
        var masks = runs.map { Mask(offset: start + $0.lowerBound, length: $0.count) }
        // If the length field is one too small, the last byte of a PIN looks like Le.
        if let last = masks.last, last.end == start + command.data.count, case .bytes = command.le {
            masks[masks.count - 1] = Mask(offset: last.offset, length: bytes.count - last.offset)
        }
        return (masks, replyMasks(reply))
    }

    private mutating func select(_ command: APDU, _ reply: [UInt8]) {
        chain = Chain()
        answer = nil
        reading = NDEFProtocol.Reading()
        guard command.p1 == 0x04 else { return }
        let isDone = reply.isEmpty || reply.suffix(2) == [0x90, 0x00] || reply.dropLast().last == 0x61
        guard isDone else { return }
        hasSelected = true
        applet = applications.selected(by: command)
    }

    private mutating func commandRuns(_ command: APDU) -> [Range<Int>] {
        let header = [command.cla & ~0x10, command.ins, command.p1, command.p2]
        if chain.header != header { chain = Chain(header: header) }
        let start = chain.data.count
        guard start + command.data.count <= Self.longest else { return [0..<command.data.count] }
        chain.data += command.data
        let places = SecretPlaces(applications: applications).inCommand(
            applet, hasSelected, command, data: chain.data)
        return places.parts(in: start..<chain.data.count)
    }

    /// The ranges of a reply or of a part of one.
    private mutating func replyMasks(_ reply: [UInt8]) -> [Mask] {
        guard reply.count >= 2, var whole = answer else { return [] }
        let data = Array(reply.dropLast(2))
        let isPart = reply[reply.count - 2] == 0x61
        let isWaiting = applet?.aid == .fido && reply.suffix(2) == [0x91, 0x00]
        if isWaiting { return [] }
        defer { if !isPart { answer = nil } }
        let start = whole.data.count
        guard start + data.count <= Self.longest else { return Self.body(reply) }
        whole.data += data
        answer = whole
        if applet?.aid == .ndef, whole.command.ins == ISO7816.readBinary {
            let offset = Int(whole.command.p1) << 8 | Int(whole.command.p2)
            return reading.secrets(in: data, at: offset + start).map { Mask(offset: $0.lowerBound, length: $0.count) }
        }
        return SecretPlaces(applications: applications)
            .inReply(applet, hasSelected, whole.command, data: whole.asked, reply: whole.data)
            .parts(in: start..<whole.data.count)
            .map { Mask(offset: $0.lowerBound, length: $0.count) }
    }

    /// The maximum number of bytes of a command or reply that are joined.
    private static let longest = 1 << 20

    private static func body(_ reply: [UInt8]) -> [Mask] {
        reply.count > 2 ? [Mask(offset: 0, length: reply.count - 2)] : []
    }

    /// Sorts ranges and merges those that touch or overlap.
    package static func joined(_ masks: [Mask]) -> [Mask] {
        var result: [Mask] = []
        for mask in masks.filter({ $0.length > 0 && $0.offset >= 0 }).sorted(by: { $0.offset < $1.offset }) {
            if let last = result.last, last.end >= mask.offset {
                result[result.count - 1] = Mask(offset: last.offset, length: max(last.end, mask.end) - last.offset)
            } else {
                result.append(mask)
            }
        }
        return result
    }
}

extension Capture.Event.Mask {
    /// The index after the last byte.
    package var end: Int {
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? .max : end
    }
}

extension APDU {
    /// The offset of the data field in an encoded command.
    static func dataOffset(_ command: [UInt8]) -> Int {
        command.count > 7 && command[4] == 0 ? 7 : 5
    }

    /// Whether this command fetches the rest of a reply: GET RESPONSE, or the application's own instruction.
    package func continues(in applet: (any CardVocabulary.Type)?) -> Bool {
        ins == ISO7816.getResponse || ins == applet?.continuation && data.isEmpty
    }

    /// SELECT by name (ISO 7816-4 §11.2.2).
    package var isSelection: Bool { ins == ISO7816.select && p1 == 0x04 && cla & 0x80 == 0 }
}

extension CardVocabularies {
    /// The known application that a SELECT names.
    package func selected(by command: APDU) -> (any CardVocabulary.Type)? { self[AID(rawValue: command.data)] }
}

extension [Range<Int>] {
    /// The ranges clamped to a part, relative to its start.
    func parts(in part: Range<Int>) -> [Range<Int>] {
        map { $0.clamped(to: part) }.filter { !$0.isEmpty }
            .map { ($0.lowerBound - part.lowerBound)..<($0.upperBound - part.lowerBound) }
    }
}

/// Locates the secrets in a card's commands and replies for each application, and before one is selected.
///
/// Every rule works on the known part of a message: truncated data is handled as far as it goes, and from the first
/// byte that cannot be parsed, everything is treated as secret.
struct SecretPlaces: Sendable {
    let applications: CardVocabularies

    /// The secret ranges of a command's data, which may be the first parts of a chain.
    func inCommand(
        _ applet: (any CardVocabulary.Type)?, _ hasSelected: Bool, _ command: APDU, data: [UInt8]
    ) -> [Range<Int>] {
        if ISO7816.secretInstructions.contains(command.ins) { return SecretRuns.all(data) }
        if Self.isProtected(command) { return carries(command) ? SecretRuns.all(data) : [] }
        if let applet { return applet.secrets(in: command, data: data) }
        if hasSelected { return [] }
        if let owner = applications.owner(of: command, data: data) { return owner.secrets(in: command, data: data) }
        if applications.hidden.contains(command.ins) { return SecretRuns.all(data) }
        return applications.recognizable.flatMap { $0.secrets(in: command, data: data) }
    }

    /// The secret ranges of a reply's data, which may be its first parts.
    func inReply(
        _ applet: (any CardVocabulary.Type)?, _ hasSelected: Bool, _ command: APDU, data: [UInt8], reply: [UInt8]
    ) -> [Range<Int>] {
        if Self.isProtected(command) { return carries(command) ? SecretRuns.all(reply) : [] }
        if let applet { return applet.secrets(inReply: reply, to: command, data: data) }
        if hasSelected { return [] }
        return applications.recognizable.flatMap { $0.secrets(inReply: reply, to: command, data: data) }
    }

    private func carries(_ command: APDU) -> Bool { applications.carriers.contains(command.ins) }

    /// Whether a command was sent through a secure channel. Its data are then ciphertext, whose parts cannot be
    /// distinguished and which the public factory keys decrypt.
    private static func isProtected(_ command: APDU) -> Bool {
        command.isProtected && command.ins != SecurityDomainProtocol.Instruction.externalAuthenticate
    }
}
