// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCapture
import YKProtocols
import YKTransport
import YKWire

/// The exchanges that an operation would perform: reads are sent, changes to the key are not.
public final class ExchangePlan: Sendable {
    /// One exchange.
    public struct Step: Sendable, Hashable {
        /// The command, with secrets overwritten.
        public var command: [UInt8]
        /// The command in words.
        public var summary: String
        /// The content of the command, in words.
        public var details: [String]
        /// Whether it was sent.
        public var isSent: Bool

        /// Creates an exchange.
        public init(command: [UInt8], summary: String, details: [String], isSent: Bool) {
            self.command = command
            self.summary = summary
            self.details = details
            self.isSent = isSent
        }
    }

    private typealias State = (steps: [Step], isStopped: Bool)

    private let state = Mutex<State>(([], false))

    /// The secure channel that the operation would open in each application it selects, in words; `nil` for none.
    public let secureChannel: String?

    /// The secure channel that is opened in an application that requires one if ``secureChannel`` is `nil`, in words.
    /// The plan ends there, since such an application reveals nothing without it.
    public let requiredChannel: String?

    /// Creates an empty plan.
    ///
    /// - Parameters:
    ///   - secureChannel: The secure channel that the operation would open. The plan opens none, and lists the commands
    ///     as they are before they are protected.
    ///   - requiredChannel: The secure channel that it would open where the key requires one.
    public init(secureChannel: String? = nil, requiredChannel: String? = nil) {
        self.secureChannel = secureChannel
        self.requiredChannel = requiredChannel
    }

    /// The exchanges so far, in order.
    public var steps: [Step] { state.withLock { $0.steps } }

    /// Whether the plan ends before the operation does because the rest depends on a reply that only the key can give.
    public var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Records that the rest depends on a reply that only the key can give.
    package func stop() { state.withLock { $0.isStopped = true } }

    /// Adds an exchange.
    package func add(_ step: Step) { state.withLock { $0.steps.append(step) } }

    /// Adds the handshake of the secure channel, whose commands depend on the key's replies.
    func addSecureChannel() {
        if let secureChannel { add(channel: secureChannel) }
    }

    /// Adds the handshake of the secure channel that the key requires, and ends the plan.
    func endAtRequiredChannel(_ words: String) -> LinkError {
        add(channel: words)
        return end()
    }

    private func add(channel words: String) {
        add(Step(command: [], summary: "open a secure channel with \(words)", details: [], isSent: false))
    }

    func add(_ command: [UInt8], _ narration: Narration, isSent: Bool) {
        add(Step(command: command, summary: narration.summary, details: narration.details, isSent: isSent))
    }

    /// Ends the plan, and returns the error that a link then throws.
    func end() -> LinkError {
        stop()
        return .failed(code: 0, "the plan ends here")
    }
}

/// A card link that sends reads and withholds changes.
final class PlanningLink: ForwardingCardLink {
    let link: any CardLink
    private let plan: ExchangePlan
    private var redactor = Redactor()
    private var narrator = Narrator()
    private var applet: AID?

    init(_ link: any CardLink, _ plan: ExchangePlan) {
        self.link = link
        self.plan = plan
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        switch CommandEffect(of: command, in: applet) {
        case .read:
            let reply = try link.exchange(command, deadline: deadline)
            note(command, reply, narrator.narrate(.init(.exchange(command: command, reply: reply))), isSent: true)
            let status = (try? ResponseAPDU(decoding: reply))?.status
            if let apdu = try? APDU(decoding: command), apdu.isSelection, status == .ok {
                applet = AID(rawValue: apdu.data)
                plan.addSecureChannel()
            }
            return reply
        case .write(let reply):
            note(command, reply ?? [], narrator.narrate(command: command), isSent: false)
            guard let reply else { throw plan.end() }
            return reply
        }
    }

    private func note(_ command: [UInt8], _ reply: [UInt8], _ narration: Narration, isSent: Bool) {
        let masks = redactor.masks(command: command, reply: reply)
        plan.add(command.masked(masks.command), narration, isSent: isSent)
    }
}

/// A FIDO link that sends messages that only read, and withholds those that change the key, require a touch or use up a
/// PIN retry.
final class PlanningFIDOLink: ForwardingFIDOLink {
    let link: any FIDOLink
    private let plan: ExchangePlan

    init(_ link: any FIDOLink, _ plan: ExchangePlan) {
        self.link = link
        self.plan = plan
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        let masked = payload.masked(Redactor.masks(message: payload, of: command))
        switch CommandEffect(ofFIDO: command, payload) {
        case .read:
            let reply = try link.call(command, payload, deadline: deadline, keepalive: keepalive)
            plan.add(masked, Narration.message(command, payload, reply: reply), isSent: true)
            return reply
        case .write(let reply):
            plan.add(masked, Narration.message(command, payload, reply: nil), isSent: false)
            guard let reply else { throw .device(plan.end()) }
            return reply
        }
    }
}

/// An OTP link that sends commands that only read, and withholds those that change the key or generate a token.
final class PlanningOTPLink: ForwardingOTPLink {
    let link: any OTPLink
    private let plan: ExchangePlan

    init(_ link: any OTPLink, _ plan: ExchangePlan) {
        self.link = link
        self.plan = plan
    }

    func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8] {
        guard OTPProtocol.effect(of: command) == .read else { throw stop(command, payload) }
        let data = try link.query(command, payload, reply: reply, deadline: deadline, waiting: waiting)
        plan.add([command.rawValue], Narration.slot(command, payload, reply: data), isSent: true)
        return data
    }

    func write(_ command: OTPCommand, _ payload: [UInt8], deadline: Deadline) throws(OTPLinkError) -> OTPStatus {
        throw stop(command, payload)
    }

    private func stop(_ command: OTPCommand, _ payload: [UInt8]) -> OTPLinkError {
        plan.add([command.rawValue], Narration.slot(command, payload, reply: nil), isSent: false)
        return .device(plan.end())
    }
}

extension CommandEffect {
    /// The effect of a card command; an unknown command counts as a change.
    init(of bytes: [UInt8], in applet: AID?) {
        let applications = CardVocabularies.known
        self =
            (try? APDU(decoding: bytes)).map { applications.effect(of: $0, in: applications[applet]) }
            ?? .write(reply: nil)
    }

    /// The effect of a FIDO message; an unknown message counts as a change.
    init(ofFIDO command: CTAPHID.Command, _ payload: [UInt8]) {
        switch command {
        case .cbor: self = CTAPProtocol.effect(of: payload)
        case .msg: self = (try? APDU(decoding: payload)).map(FIDOProtocol.effect) ?? .write(reply: nil)
        case .init(rawValue: FIDOProtocol.Vendor.readConfig): self = .read
        case .init(rawValue: FIDOProtocol.Vendor.writeConfig), .init(rawValue: FIDOProtocol.Vendor.setMode):
            self = .write(reply: [])
        default: self = .write(reply: nil)
        }
    }
}
