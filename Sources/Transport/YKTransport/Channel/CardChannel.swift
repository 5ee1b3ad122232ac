// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// The channel from a service to a card: selects an application and sends it commands through the stages of encoding,
/// command chaining and response chaining.
///
/// Other programs are locked out of the card from the first exchange until ``rest()``. After a rest, or when another
/// program has reset the card, the application is selected again before the next command.
public final class CardChannel {
    /// The environment of the channel.
    public let environment: ServiceEnvironment
    /// The selected application.
    public private(set) var applet: AID?
    /// Called with the reply to SELECT when the application has been selected again, so that a service can unlock it
    /// again.
    package var onReselect: (([UInt8]) throws(CardError) -> Void)?

    /// Returns the secure channel to open before an application is selected, or `nil` if it requires none. May select
    /// other applications to find out.
    package var requiredProtection: ((AID, CardChannel) throws(CardError) -> (any ChannelProtection)?)?

    /// The runtime of the service that uses this channel.
    package var runtime: ServiceRuntime?
    /// Whether the link withholds changes, so that services do not require the rights for them.
    package var isPlanned = false

    private let link: any CardLink
    private let encoding: EncodingStage
    private let chaining: CommandChaining
    private let top: ResponseChaining
    private let protection: ProtectionStage
    private let quirk: TouchQuirk
    private var isHeld = false
    /// Whether the selection is lost and must be repeated before the next command.
    private var isLost = false
    private var isReselecting = false
    private var memory = ReplyMemory()

    /// Takes ownership of a link.
    public init(link: sending any CardLink, environment: ServiceEnvironment = ServiceEnvironment()) {
        self.link = link
        self.environment = environment
        encoding = EncodingStage(link: link)
        chaining = CommandChaining(next: encoding)
        top = ResponseChaining(next: chaining)
        protection = ProtectionStage(next: top, encoding: encoding)
        quirk = TouchQuirk(next: protection)
        encoding.form = link.identity.takesExtendedLength ? .extended : .short
        if let limit = link.identity.maxCommandLength { chaining.extendedLimit = min(limit, chaining.extendedLimit) }
    }

    deinit { link.close() }

    /// The identity of the card and its reader.
    public var identity: CardIdentity { link.identity }
    /// The encoding of length fields; extended if card and reader are known to accept it.
    public var form: APDU.Form {
        get { encoding.form }
        set { encoding.form = newValue }
    }
    /// The number of exchanges with the card.
    package var exchanges: Int { encoding.exchanges }
    /// Whether the card is reset when other programs may use it, at rest and at the end, so that they cannot use what was
    /// unlocked. False again once the application has been selected again, which unlocks nothing.
    public var resetsOnRelease: Bool {
        get { link.resetsOnRelease }
        set { link.resetsOnRelease = newValue }
    }
    /// The instruction for reading the rest of a long reply. Selecting a known application sets its own; for others it is
    /// C0 by default.
    public var continuation: UInt8 {
        get { top.continuation }
        set { top.continuation = newValue }
    }

    /// The secure channel that ``protect(with:)`` set for every application.
    package var secureChannel: (any ChannelProtection)? { protection.protection }

    /// Opens a secure channel in each application selected from now on; commands are then sent only through that
    /// channel.
    public func protect(with channel: sending any ChannelProtection) { protection.protection = channel }

    /// Adapts the channel to the quirks of a firmware version.
    package func adapt(to firmware: FirmwareVersion) {
        let isInPort = (try? ATR(decoding: identity.atr))?.contactless == nil
        quirk.isEnabled = identity.isYubiKey && isInPort && TouchQuirk.affects(firmware)
    }

    /// Selects an application (ISO 7816-4 §11.2.2) and returns the data of the reply.
    ///
    /// - Throws: `appletMissing` when the card has no such application.
    public func select(_ aid: AID) throws(CardError) -> [UInt8] {
        let deadline = environment.deadline()
        try hold(deadline, reselecting: false)
        return try selectAgainAfterReset(aid, deadline)
    }

    /// Sends a command and decodes its reply. A read that the card would answer as before, because nothing has changed
    /// since, is not sent again. A repeatable command is sent again in the short form when the exchange of
    /// the first extended command breaks off, as with readers that cannot carry it.
    ///
    /// - Throws: `status` for a status word other than 9000.
    public func send<Command: CardCommand>(_ command: Command) throws(CardError) -> Command.Response {
        let response = try Self.naming(Command.name) { () throws(CardError) in
            if isHeld, !isLost, secureChannel?.isOpen ?? true, let known = memory.reply(to: command.apdu) {
                return known
            }
            do throws(CardError) { return try transmit(command.apdu) } catch {
                guard Command.isRepeatable, error.isBrokenExchange, chaining.takesShortForm() else { throw error }
                return try transmit(command.apdu)
            }
        }
        guard response.status == .ok else { throw .status(response.status, during: Command.name) }
        return try lift({ CardError.malformed($0, during: Command.name) }) { () throws(WireError) in
            var reader = ByteReader(response.data)
            return try command.decode(&reader)
        }
    }

    /// Adds the command's name to an error from the stages, which know only the header.
    private static func naming<Value>(_ name: String, _ body: () throws(CardError) -> Value) throws(CardError) -> Value
    {
        do { return try body() } catch {
            switch error {
            case .endlessReply: throw .endlessReply(during: name)
            case .tooLong: throw .tooLong(during: name)
            default: throw error
            }
        }
    }

    /// Sends a command through the stages and returns the reply, regardless of its status word.
    public func transmit(_ command: APDU) throws(CardError) -> ResponseAPDU {
        try transmit(command, deadline: environment.deadline())
    }

    /// Sends a command under its own deadline, so that the command that ends an operation is sent even after a
    /// cancellation.
    package func transmit(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        try hold(deadline, reselecting: true)
        memory.forget(before: command)
        if command.ins == ISO7816.select { link.resetsWhenShared = true }
        let reply = try restingOnLinkFailure { () throws(CardError) in try quirk.send(command, deadline: deadline) }
        memory.keep(reply, to: command)
        return reply
    }

    /// Sends one command APDU unmodified, bypassing all stages, and returns the response APDU as received.
    ///
    /// - Throws: `secureChannel(.unprotected)` when a secure channel is required.
    public func exchange(raw command: [UInt8]) throws(CardError) -> [UInt8] {
        guard protection.protection == nil else { throw .secureChannel(.unprotected) }
        let deadline = environment.deadline()
        try hold(deadline, reselecting: true)
        memory.forget()
        link.resetsWhenShared = true
        return try restingOnLinkFailure { () throws(CardError) in
            try lift(CardError.link) { () throws(LinkError) in try link.exchange(command, deadline: deadline) }
        }
    }

    /// Lets other programs use the card until the next command; resets it before if something was unlocked
    /// (``resetsOnRelease``).
    public func rest() {
        guard isHeld else { return }
        isHeld = false
        memory.forget()
        link.end()
        runtime?.rest()
    }

    /// Closes the channel; later commands throw `closed`.
    package func close() {
        if isHeld { runtime?.rest() }
        isHeld = false
        link.close()
        runtime?.close()
    }

    /// Resets the card; the application is selected again before the next command.
    public func reset(_ kind: CardReset) throws(CardError) {
        let deadline = environment.deadline()
        isLost = true
        memory.forget()
        try lift(CardError.link) { () throws(LinkError) in try link.reset(kind, deadline: deadline) }
        rest()
    }

    private func hold(_ deadline: Deadline, reselecting: Bool) throws(CardError) {
        try lift(CardError.link) { () throws(LinkError) in
            try runtime?.begin()
            if deadline.isCancelled { throw .cancelled }
        }
        if !isHeld {
            let wasUsed = try restingOnLinkFailure { () throws(CardError) in
                try lift(CardError.link) { () throws(LinkError) in try link.begin(deadline: deadline) }
            }
            isHeld = true
            isLost = isLost || wasUsed
        }
        guard isLost, !isReselecting else { return }
        guard reselecting, let applet else { return isLost = false }
        isReselecting = true
        defer { isReselecting = false }
        let reply = try selectAgainAfterReset(applet, deadline)
        resetsOnRelease = false
        try restingOnLinkFailure { () throws(CardError) in try onReselect?(reply) }
        isLost = false
    }

    /// After a link failure the card is no longer locked; the next command starts over.
    private func restingOnLinkFailure<Value>(_ body: () throws(CardError) -> Value) throws(CardError) -> Value {
        do { return try body() } catch {
            if case .link(let failure) = error {
                isLost = isLost || secureChannel != nil
                rest()
                runtime?.note(failure)
            }
            throw error
        }
    }

    /// Selects, once more if another program resets the card meanwhile: pcscd (1.9.9) lets this one begin although the
    /// other's SCardDisconnect, which waits for the end of transactions, resets the card afterwards.
    private func selectAgainAfterReset(_ aid: AID, _ deadline: Deadline) throws(CardError) -> [UInt8] {
        do {
            return try restingOnLinkFailure { () throws(CardError) in try selectHeld(aid, deadline: deadline) }
        } catch {
            guard case .link(.reset) = error else { throw error }
        }
        try hold(deadline, reselecting: false)
        return try restingOnLinkFailure { () throws(CardError) in try selectHeld(aid, deadline: deadline) }
    }

    private func selectHeld(_ aid: AID, deadline: Deadline) throws(CardError) -> [UInt8] {
        if let requiredProtection {
            protection.protection = nil
            protection.protection = try requiredProtection(aid, self)
            try hold(deadline, reselecting: false)
        }
        memory.select(aid)
        let inherited = top.continuation
        top.continuation = ISO7816.getResponse
        defer {
            let own = CardVocabularies.applications.application(aid)?.continuation ?? inherited
            top.continuation = aid == applet ? own : ISO7816.getResponse
        }
        secureChannel?.end()
        try secureChannel?.prepare(clearCommands(deadline))
        let response = try top.send(.select(aid), deadline: deadline)
        switch response.status {
        case .ok:
            // GnuPG finds its own application selected.
            link.resetsWhenShared = aid != .openPGP
            try secureChannel?.open(in: aid, clearCommands(deadline))
            defer { applet = aid }
            return response.data
        case .notFound, .appletSelectFailed, .functionNotSupported, .unknownInstruction:
            throw .appletMissing(aid)
        default:
            throw .status(response.status, during: "SELECT \(aid.title)")
        }
    }

    private func clearCommands(_ deadline: Deadline) -> ClearCommands {
        ClearCommands(encoding.form) { [top] command throws(CardError) in try top.send(command, deadline: deadline) }
    }
}

extension CardError {
    /// Whether the link failed while it carried a command and its reply.
    fileprivate var isBrokenExchange: Bool {
        switch self {
        case .link(.failed), .link(.unresponsive), .link(.malformed): true
        default: false
        }
    }
}

extension CardChannel {
    /// Selects the management application and returns the version that it reports; `nil` for a card without one, and
    /// for a CanoKey, whose imitation reports a YubiKey's. Nothing is selected afterwards that another application
    /// could not be selected from.
    package func managementVersion() throws(CardError) -> FirmwareVersion? {
        guard !identity.isCanoKey, secureChannel == nil else { return nil }
        do {
            let version = try? FirmwareVersion(in: try select(.management))
            try version.map(leaveManagement)
            return version
        } catch {
            switch error {
            case .link(.replay), .appletMissing, .status, .malformed, .secureChannel, .endlessReply, .tooLong:
                return nil
            case .link: throw error
            }
        }
    }

    /// NEO 3.x stays in the management application until it gets a command that it cannot read (ykman 5.9.2).
    package func leaveManagement(of version: FirmwareVersion) throws(CardError) {
        guard version.major == 3 else { return }
        do { _ = try exchange(raw: [0xA4, 0x04, 0x00, 0x08]) } catch {
            guard case .link(.replay) = error else { throw error }
        }
    }
}
