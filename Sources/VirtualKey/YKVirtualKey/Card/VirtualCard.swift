// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The smart card around the applets: SELECT, command chaining, response chaining and Le (ISO 7816-4 §5).
///
/// A value that processes command APDUs; it does no I/O.
package struct VirtualCard: Sendable {
    /// The persistent state.
    package var state: VirtualKeyState
    /// Whether the key is on a contactless reader.
    package let isOnReader: Bool
    /// Whether the reader finds only the tag that explains how to enable NFC; fixed at power-on.
    private var isRestricted: Bool
    /// The selected application.
    package private(set) var selected: (any Applet)?

    /// The secure channel to the selected application.
    private var channel = VirtualChannel()
    /// The session through CTAPHID.
    var tunnel = CardTunnel()
    private var chain: APDU?
    private var pending: [UInt8] = []

    private static let applets: [any Applet.Type] = [
        OATHApplet.self, ManagementApplet.self, OTPApplet.self, NDEFApplet.self, FIDOApplet.self,
        PIVApplet.self, HSMAuthApplet.self, OpenPGPApplet.self, SecurityDomainApplet.self,
    ]

    /// The memories of the applications of all models, in the order of the state file.
    static let memories: [any AppletMemory.Type] = {
        var seen: Set<ObjectIdentifier> = []
        let all = applets + DeviceModel.allCases.flatMap { $0.applets ?? [] }
        return all.compactMap { $0.memory }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }()

    /// Creates a card that is powered off, in a port unless the profile or `isOnReader` says that it is on a reader.
    package init(_ state: VirtualKeyState, isOnReader: Bool = false) {
        self.state = state
        self.isOnReader = isOnReader || state.profile.transport == .nfc
        isRestricted = self.isOnReader && state.management.isNFCRestricted
    }

    /// Powers the card off: the selection and unlocked state are lost, the persistent state is kept.
    package mutating func powerOff() {
        deselect()
        state.fidoPower = FIDOPower()
        state.otpPower = OTPPower()
        tunnel = CardTunnel()
        isRestricted = isOnReader && state.management.isNFCRestricted
    }

    /// Ends the session with the selected application; state that lasts until power-off is kept.
    package mutating func deselect() {
        selected = nil
        channel.close()
        chain = nil
        pending = []
    }

    /// The result of a command; the state is unchanged unless there is a response.
    package enum Outcome: Hashable, Sendable {
        /// The response APDU.
        case response([UInt8])
        /// The key waits for a touch; the command is to be retried.
        case waiting
        /// The key generates a key pair; the command is to be retried.
        case computing
    }

    /// Processes a command APDU and returns its response, waiting while a key pair is generated; `nil` while the key
    /// waits for a touch, with the state unchanged.
    package mutating func exchange(_ bytes: [UInt8], _ inputs: VirtualInputs) -> [UInt8]? {
        while true {
            switch attempt(bytes, inputs) {
            case .response(let bytes): return bytes
            case .waiting: return nil
            case .computing: Pause.step(.after(.milliseconds(1)), atMost: 1)
            }
        }
    }

    /// Processes a command APDU unless that requires waiting for a touch or a computation.
    mutating func attempt(_ bytes: [UInt8], _ inputs: VirtualInputs) -> Outcome {
        var next = self
        do {
            let response = try next.respond(bytes, inputs)
            self = next
            return .response(response.encoded)
        } catch {
            guard let response = error.response else { return error == .computing ? .computing : .waiting }
            next.chain = nil
            self = next
            return .response(response.encoded)
        }
    }

    private mutating func respond(_ bytes: [UInt8], _ inputs: VirtualInputs) throws(Refusal) -> ResponseAPDU {
        guard bytes.count <= state.profile.commandLimit, let command = try? APDU(decoding: bytes) else {
            pending = []
            throw .status(.wrongLength)
        }
        let isExtended = bytes.count > 6 && bytes[4] == 0
        guard takes(command.cla & ~0x10) else { throw .status(.unknownClass) }
        let room = Self.room(for: command.le, isExtended: isExtended)
        if command.cla & 0x10 == 0, command.ins == continuation {
            guard selected?.continues ?? true else { throw .status(.securityStatusNotSatisfied) }
            return try rest(room)
        }
        pending = []
        guard let whole = try joined(command) else { return ResponseAPDU(.ok) }
        pending = try answer(whole, isExtended: isExtended, inputs)
        return try pending.isEmpty ? ResponseAPDU(.ok) : rest(room)
    }

    private var classes: Set<UInt8> { selected.map { type(of: $0).classes } ?? [0x00] }
    private var continuation: UInt8 { selected.map { type(of: $0).continuation } ?? ISO7816.getResponse }

    /// Whether the selected application accepts this class; secure channel commands have classes of their own.
    private func takes(_ cla: UInt8) -> Bool {
        classes.contains(cla) || opensChannels && (cla == 0x80 || cla == 0x84 || classes.contains(cla & ~0x04))
    }

    /// Whether a secure channel can be opened in the selected application.
    private var opensChannels: Bool {
        guard let selected, state.profile.hasSCP else { return false }
        return type(of: selected).opensChannels(on: state.profile)
    }

    private mutating func answer(
        _ command: APDU, isExtended: Bool, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        if command.cla == 0, command.ins == ISO7816.select, command.p1 == 0x04 {
            channel.close()
            return try select(command, inputs)
        }
        guard selected != nil else { throw .status(.unknownInstruction) }
        if opensChannels, VirtualChannel.isHandshake(command, state.profile) {
            return try channel.handshake(command, isExtended: isExtended, &state, inputs)
        }
        if command.cla & 0x04 != 0 {
            let plain = try channel.unwrap(command, isExtended: isExtended)
            return channel.wrap(try process(plain, inputs))
        }
        guard !channel.isOpen else {
            channel.close()
            throw .status(.securityStatusNotSatisfied)
        }
        guard !needsChannel(command) else { throw .status(.conditionsNotSatisfied) }
        return try process(command, inputs)
    }

    /// Passes the command to the selected application; a CTAP2 status becomes the data of the reply.
    private mutating func process(_ command: APDU, _ inputs: VirtualInputs) throws(Refusal) -> [UInt8] {
        guard classes.contains(command.cla) else { throw .status(.unknownClass) }
        guard var applet = selected else { throw .status(.unknownInstruction) }
        var inputs = inputs
        if isOnReader, type(of: applet).takesReaderForTouch { inputs.touch = { _ in .touched } }
        applet.arrive(by: CommandRoute(isOnReader: isOnReader, channel: channel.rights))
        defer { selected = applet }
        do { return try applet.process(command, &state, inputs) } catch {
            guard case .ctap(let status) = error else { throw error }
            return [status]
        }
    }

    /// Whether a command requires a secure channel.
    private func needsChannel(_ command: APDU) -> Bool {
        guard isOnReader, state.profile.isFIPS57, let selected else { return false }
        return selected.needsChannel(command)
    }

    /// Selects an application. If that fails, the current one stays selected (ISO 7816-4 §11.2.2).
    private mutating func select(_ command: APDU, _ inputs: VirtualInputs) throws(Refusal) -> [UInt8] {
        guard command.p2 & 0xF3 == 0 else { throw .status(.wrongParameters) }
        let applets = state.profile.model.applets ?? Self.applets
        let match = applets.first { applet in
            command.data.count >= 5 && applet.aid.rawValue.starts(with: command.data)
        }
        guard let match, state.profile.model.applets != nil || isEnabled(match) else { throw .status(.notFound) }
        var applet: any Applet = isRestricted ? NDEFApplet(message: NDEFApplet.restriction) : match.init()
        if let selected, match.survivesReselection, type(of: selected) == match { applet = selected }
        let reply: [UInt8]
        do throws(Refusal) { reply = try applet.select(&state, inputs) } catch {
            // After a warning (62xx) about its state, the application is selected nevertheless.
            if case .status(let word) = error, word.sw1 == 0x62 { selected = applet }
            throw error
        }
        selected = applet
        return command.p2 & 0x0C == 0x0C ? [] : reply
    }

    /// Whether the application is enabled over the card's current interface; before firmware 5, only interfaces can be
    /// disabled.
    private func isEnabled(_ applet: any Applet.Type) -> Bool {
        let profile = state.profile
        guard isOnReader || !applet.isContactless else { return false }
        guard !isRestricted else { return applet is NDEFApplet.Type }
        let enabled =
            profile.version.major < 5 ? profile.applications : state.enabled(over: isOnReader ? .nfc : .usb)
        return applet.capabilities == 0 || enabled & applet.capabilities != 0
    }

    /// Returns the complete command with the last part of its chain (ISO 7816-4 §5.3.3), `nil` before that.
    private mutating func joined(_ command: APDU) throws(Refusal) -> APDU? {
        var whole = command
        if let chain, chain.cla == command.cla & ~0x10, chain.ins == command.ins, chain.p1 == command.p1,
            chain.p2 == command.p2
        {
            whole.data = chain.data + command.data
        }
        whole.cla = command.cla & ~0x10
        guard whole.data.count <= state.profile.messageLimit else { throw .status(.wrongLength) }
        chain = command.cla & 0x10 == 0 ? nil : whole
        return chain == nil ? whole : nil
    }

    private mutating func rest(_ room: Int) throws(Refusal) -> ResponseAPDU {
        guard !pending.isEmpty else { throw .status(.conditionsNotSatisfied) }
        let data = Array(pending.prefix(room))
        pending.removeFirst(data.count)
        guard !pending.isEmpty else { return ResponseAPDU(.ok, data: data) }
        let left = pending.count > 255 ? 0 : UInt16(pending.count)
        return ResponseAPDU(StatusWord(0x6100 | left), data: data)
    }

    /// The number of reply bytes that the host accepts; a YubiKey treats an absent Le as the maximum.
    private static func room(for le: APDU.Le, isExtended: Bool) -> Int {
        if case .bytes(let count) = le { return Int(count) }
        return isExtended ? 65536 : 256
    }
}

extension Refusal {
    /// The response to the command; `nil` while it has not been answered.
    fileprivate var response: ResponseAPDU? {
        switch self {
        case .status(let status): ResponseAPDU(status)
        case .stillWorking(let doing): ResponseAPDU(.stillWorking, data: [doing])
        case .ctap(let status): ResponseAPDU(.ok, data: [status])
        case .waitingForTouch, .computing: nil
        }
    }
}

/// A session with an application through a vendor command of CTAPHID, independent of the card's session.
struct CardTunnel: Sendable {
    var applet: (any Applet)?
    /// The rest of a long reply.
    var rest: [UInt8] = []

    /// The maximum size of an answer's data, in bytes (trussed-secrets-app: `CTAPHID_MESSAGE_SIZE_LIMIT`).
    static let room = 3072
}

extension VirtualCard {
    /// Processes a command APDU that arrived in a vendor command of CTAPHID. The answer has the status word first.
    mutating func tunnel(_ message: [UInt8], by command: UInt8, _ inputs: VirtualInputs) -> VirtualHID.Outcome {
        guard let applet = state.profile.model.applets?.first(where: { $0.tunnel == command }) else {
            return .refused(.invalidCommand)
        }
        guard let apdu = try? APDU(decoding: message) else { return .refused(.invalidLength) }
        var next = self
        let response: ResponseAPDU
        do throws(Refusal) { response = try next.tunnelled(apdu, to: applet, inputs) } catch {
            switch error {
            case .waitingForTouch, .stillWorking: return .waiting
            case .computing: return .computing
            case .status(let status): response = ResponseAPDU(status)
            case .ctap: response = ResponseAPDU(.aborted)
            }
        }
        self = next
        return .answer([response.status.sw1, response.status.sw2] + response.data)
    }

    private mutating func tunnelled(
        _ command: APDU, to type: any Applet.Type, _ inputs: VirtualInputs
    ) throws(Refusal) -> ResponseAPDU {
        guard command.cla == 0 else { throw .status(.unknownClass) }
        if command.ins == SecretsProtocol.Instruction.sendRemaining, command.parameters == 0 {
            guard !tunnel.rest.isEmpty else { throw .status(.conditionsNotSatisfied) }
            return tunnelRest()
        }
        tunnel.rest = []
        var applet = tunnel.applet ?? type.init()
        defer { tunnel.applet = applet }
        if command.ins == ISO7816.select, command.p1 == 0x04, command.p2 == 0 {
            guard command.data == type.aid.rawValue else { throw .status(.notFound) }
            tunnel.rest = try applet.select(&state, inputs)
        } else {
            tunnel.rest = try applet.process(command, &state, inputs)
        }
        return tunnelRest()
    }

    private mutating func tunnelRest() -> ResponseAPDU {
        let data = Array(tunnel.rest.prefix(CardTunnel.room))
        tunnel.rest.removeFirst(data.count)
        return ResponseAPDU(tunnel.rest.isEmpty ? .ok : StatusWord(0x61FF), data: data)
    }
}
