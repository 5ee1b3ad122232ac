// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The way from a service to a card: selects an application and sends it commands through the stages of encoding,
/// command chaining and response chaining.
///
/// The card is kept from other programs from the first exchange until ``rest()``. After a rest, or when another program
/// reset the card in between, the application is selected again before the next command.
public final class CardChannel {
    /// The world this channel works in.
    public let environment: Environment
    /// The application that is selected.
    public private(set) var applet: AID?
    /// Runs after an application had to be selected again, with the reply to SELECT: a service unlocks it once more.
    package var onReselect: (([UInt8]) throws(CardError) -> Void)?

    /// Chooses the secure channel that an application requires before it is selected, `nil` for none. It may select other
    /// applications to find out.
    package var requiredProtection: ((AID, CardChannel) throws(CardError) -> (any ChannelProtection)?)?

    /// The runtime of the service that uses this channel.
    package var runtime: ServiceRuntime?

    private let link: any CardLink
    private let encoding: EncodingStage
    private let chaining: CommandChaining
    private let top: ResponseChaining
    private let protection: ProtectionStage
    private let quirk: TouchQuirk
    private var isHeld = false
    /// Whether what was selected is lost, and has to be selected again before the next command.
    private var isLost = false
    private var isReselecting = false

    /// Takes a link over.
    public init(link: sending any CardLink, environment: Environment = Environment()) {
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

    /// What is known of the card and its reader.
    public var identity: CardIdentity { link.identity }
    /// How length fields are written; extended where card and reader are known to take it.
    public var form: APDU.Form {
        get { encoding.form }
        set { encoding.form = newValue }
    }
    /// How many exchanges were made with the card.
    public var exchanges: Int { encoding.exchanges }
    /// Whether the card is reset at the end, so that no other program inherits what was unlocked.
    public var resetsAtEnd: Bool {
        get { link.resetOnClose }
        set { link.resetOnClose = newValue }
    }
    /// The instruction that asks for the rest of a long reply, for the selected application; C0 unless set.
    public var continuation: UInt8 {
        get { top.continuation }
        set { top.continuation = newValue }
    }

    /// The secure channel that every application is used through, once ``protect(with:)`` was called.
    package var secureChannel: (any ChannelProtection)? { protection.protection }

    /// Opens a secure channel in each application that is selected from now on; commands are sent through it only.
    public func protect(with channel: sending any ChannelProtection) { protection.protection = channel }

    /// Takes over which firmware the key has, of which some wants to be talked to in its own way.
    package func adapt(to firmware: Version) {
        let isInPort = (try? ATR(decoding: identity.atr))?.contactless == nil
        quirk.isMet = identity.isYubiKey && isInPort && TouchQuirk.concerns(firmware)
    }

    /// Selects an application (ISO 7816-4 §11.2.2) and gives the data of the reply.
    ///
    /// Throws `appletMissing` when the card has no such application.
    public func select(_ aid: AID) throws(CardError) -> [UInt8] {
        let deadline = environment.deadline()
        try hold(deadline, reselecting: false)
        return try restingOnLinkFailure { () throws(CardError) in try selectHeld(aid, deadline: deadline) }
    }

    /// Sends a command and reads its reply; a status word other than 9000 throws `status`.
    public func send<Command: CardCommand>(_ command: Command) throws(CardError) -> Command.Response {
        let response = try Self.naming(Command.name) { () throws(CardError) in try transmit(command.apdu) }
        guard response.status == .ok else { throw .status(response.status, during: Command.name) }
        return try lift({ CardError.malformed($0, during: Command.name) }) { () throws(WireError) in
            var reader = ByteReader(response.data)
            return try command.decode(&reader)
        }
    }

    /// Names the command in an error of the stages, which know only its header.
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

    /// Sends a command through the stages and gives the reply, whatever its status word.
    public func transmit(_ command: APDU) throws(CardError) -> ResponseAPDU {
        try transmit(command, deadline: environment.deadline())
    }

    /// Sends a command under a deadline of its own: one that ends an operation goes out after a cancellation as well.
    package func transmit(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        try hold(deadline, reselecting: true)
        return try restingOnLinkFailure { () throws(CardError) in try quirk.send(command, deadline: deadline) }
    }

    /// Sends one command APDU as it is, without any stage, and gives the response APDU as it came.
    ///
    /// - Throws: `secureChannel(.unprotected)` when a secure channel was asked for.
    public func exchange(raw command: [UInt8]) throws(CardError) -> [UInt8] {
        guard protection.protection == nil else { throw .secureChannel(.unprotected) }
        let deadline = environment.deadline()
        try hold(deadline, reselecting: true)
        return try restingOnLinkFailure { () throws(CardError) in
            try lift(CardError.link) { () throws(LinkError) in try link.exchange(command, deadline: deadline) }
        }
    }

    /// Lets other programs use the card until the next command.
    public func rest() {
        guard isHeld else { return }
        isHeld = false
        link.end()
        runtime?.rest()
    }

    /// Ends the use of the card; later commands throw `closed`.
    package func close() {
        rest()
        link.close()
        runtime?.close()
    }

    /// Resets the card; the next command selects the application again.
    public func reset(_ kind: CardReset) throws(CardError) {
        let deadline = environment.deadline()
        isLost = true
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
        try restingOnLinkFailure { () throws(CardError) in
            let reply = try selectHeld(applet, deadline: deadline)
            try onReselect?(reply)
        }
        isLost = false
    }

    /// After a failure of the link nothing is held any more: the next command begins anew.
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

    private func selectHeld(_ aid: AID, deadline: Deadline) throws(CardError) -> [UInt8] {
        if let requiredProtection {
            protection.protection = nil
            protection.protection = try requiredProtection(aid, self)
            try hold(deadline, reselecting: false)
        }
        let usual = top.continuation
        top.continuation = ResponseChaining.getResponse
        defer { top.continuation = aid == applet ? usual : ResponseChaining.getResponse }
        secureChannel?.end()
        try secureChannel?.prepare(clearCommands(deadline))
        let response = try top.send(.select(aid), deadline: deadline)
        switch response.status {
        case .ok:
            try secureChannel?.open(in: aid, clearCommands(deadline))
            defer { applet = aid }
            return response.data
        case .notFound, .appletSelectFailed, .functionNotSupported, .unknownInstruction:
            throw .appletMissing(aid)
        default:
            throw .status(response.status, during: "SELECT \(aid)")
        }
    }

    private func clearCommands(_ deadline: Deadline) -> ClearCommands {
        ClearCommands(encoding.form) { [top] command throws(CardError) in try top.send(command, deadline: deadline) }
    }
}
