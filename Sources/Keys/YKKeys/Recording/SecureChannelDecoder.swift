// SPDX-License-Identifier: Apache-2.0

public import YKCapture
import YKProtocols
public import YKSecureChannel
import YKWire

/// Decrypts the SCP03 channels of a recording, event by event.
///
/// A recording keeps the ciphertext of non-secret data. Ciphertext with a secret is overwritten, and since the MACs are
/// chained, none can be verified after that.
public struct SecureChannelDecoder: Sendable {
    private typealias Instruction = SecurityDomainProtocol.Instruction

    private let keys: SCP03Keys
    private var applet: (any CardVocabulary.Type)?
    /// The session and whether its MACs can still be verified.
    private var session: (messaging: SecureMessaging, isVerified: Bool)?
    private var pending: SecureMessaging?
    /// The parts so far of a chained command: its instruction and parameters, and the data.
    private var parts: (head: [UInt8], data: [UInt8]) = ([], [])
    /// The command whose reply arrives in parts, and the parts so far.
    private var open: (plain: APDU, data: [UInt8])?

    /// A decrypted event.
    public struct Decoded: Sendable {
        /// The decrypted event; unchanged if it is not part of a channel.
        public var event: Capture.Event
        /// The state of the channel; `nil` if the event is not part of one.
        public var state: State?
    }

    /// The state of a channel after an event.
    public enum State: String, Sendable, CustomStringConvertible {
        /// The channel is open.
        case open = "the channel is open"
        /// The channel was opened with other keys.
        case otherKeys = "the channel was opened with other keys"
        /// The command is incomplete.
        case partOfCommand = "part of a protected command"
        /// The reply is incomplete.
        case partOfReply = "part of a protected reply"
        /// Command and reply are decrypted, and authentic.
        case verified = "protected; MACs verified"
        /// Command and reply are decrypted, but something was overwritten before, so their authenticity cannot be
        /// verified.
        case unverified = "protected; MACs cannot be verified"
        /// The command was overwritten in the recording.
        case commandOverwritten = "protected; the command was overwritten"
        /// The reply was overwritten in the recording.
        case replyOverwritten = "protected; the reply was overwritten"
        /// The reply is not authentic.
        case replyNotAuthentic = "protected; the reply is not authentic"
        /// The command is not authentic; what follows is not decrypted.
        case notAuthentic = "not authentic under these keys; the rest of the channel is not decrypted"

        /// The state, in a few words.
        public var description: String { rawValue }
    }

    /// Creates a decoder for channels that were opened with these keys.
    public init(_ keys: SCP03Keys) { self.keys = keys }

    /// Decrypts an event that is part of a channel opened with the given keys. Events are decoded in order.
    public mutating func decode(_ event: Capture.Event) -> Decoded {
        guard case .exchange(let bytes, let answer) = event.kind, let command = try? APDU(decoding: bytes),
            let response = try? ResponseAPDU(decoding: answer)
        else {
            if case .link = event.kind { reset() }
            return Decoded(event: event)
        }
        if command.isSelection {
            reset()
            applet = CardVocabularies.known.selected(by: command)
        } else if command.cla == 0x80, command.ins == Instruction.initializeUpdate {
            begin(command, response)
        } else if command.cla == 0x84, command.ins == Instruction.externalAuthenticate {
            return Decoded(event: event, state: finish(command, response, bytes))
        } else if command.cla & 0x04 != 0, session != nil {
            return protected(event, command, response, bytes)
        } else if let state = open, command.continues(in: applet) {
            open = (state.plain, state.data + response.data)
            return reply(event, response.status)
        }
        return Decoded(event: event)
    }

    /// Forgets the channel and any incomplete command or reply.
    private mutating func reset() {
        (session, pending, open) = (nil, nil, nil)
        parts = ([], [])
    }

    private mutating func begin(_ command: APDU, _ response: ResponseAPDU) {
        pending = nil
        guard response.status == .ok, command.data.count == 8, response.data.count >= 29,
            let session = try? SessionKeys(keys, context: command.data + response.data[13..<21])
        else { return }
        pending = SecureMessaging(session, chain: [UInt8](repeating: 0, count: 16))
    }

    private mutating func finish(_ command: APDU, _ response: ResponseAPDU, _ bytes: [UInt8]) -> State? {
        guard var messaging = pending, response.status == .ok else { return nil }
        pending = nil
        var plain = command
        plain.data = Array(command.data.dropLast(SecureMessaging.macSize))
        let expected = try? messaging.authenticate(plain, Self.form(bytes))
        guard expected?.data == command.data else { return .otherKeys }
        session = (messaging, true)
        return .open
    }

    private mutating func protected(
        _ event: Capture.Event, _ command: APDU, _ response: ResponseAPDU, _ bytes: [UInt8]
    ) -> Decoded {
        let head = [command.ins, command.p1, command.p2]
        if parts.head != head { parts = (head, []) }  // The host gave up on a chain.
        if command.cla & 0x10 != 0 {
            parts.data += command.data
            return Decoded(event: event, state: .partOfCommand)
        }
        var whole = command
        whole.data = parts.data + command.data
        parts = ([], [])
        guard var state = session else { return Decoded(event: event) }
        guard event.commandMask.isEmpty, whole.data.contains(where: { $0 != 0 }) else {
            state.messaging.skip()
            session = (state.messaging, false)
            return Decoded(event: event, state: .commandOverwritten)
        }
        do {
            let plain = try state.messaging.open(whole, Self.form(bytes), isVerified: state.isVerified)
            session = state
            open = (plain, response.data)
            return reply(event, response.status)
        } catch {
            session = nil
            return Decoded(event: event, state: .notAuthentic)
        }
    }

    /// Returns the plain command with the plain reply, once that is complete.
    private mutating func reply(_ event: Capture.Event, _ status: StatusWord) -> Decoded {
        guard let state = open, let session else { return Decoded(event: event) }
        guard status.bytesRemaining == nil else {
            return Decoded(event: event, state: .partOfReply)
        }
        open = nil
        let response = ResponseAPDU(status, data: state.data)
        var result = session.isVerified ? State.verified : .unverified
        var plain = ResponseAPDU(status)
        do { plain = try session.messaging.unprotect(response, isVerified: session.isVerified) } catch {
            result = event.replyMask.isEmpty ? .replyNotAuthentic : .replyOverwritten
        }
        let command = (try? state.plain.encoded(.extended)) ?? []
        return Decoded(event: Capture.Event(.exchange(command: command, reply: plain.encoded)), state: result)
    }

    /// The length encoding of a command.
    private static func form(_ bytes: [UInt8]) -> APDU.Form { bytes.count > 6 && bytes[4] == 0 ? .extended : .short }
}
