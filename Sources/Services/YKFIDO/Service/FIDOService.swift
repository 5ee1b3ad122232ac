// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The FIDO application of a key: CTAP2, and U2F on keys that have it.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the key. A PIN is
/// asked for through ``FIDOInteraction`` when one is needed, with the tries that are left; a wrong one is never
/// tried again by itself.
public actor FIDOService {
    private let thread: ServiceThread
    let session: FIDOSession

    /// The thread the key is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ session: sending FIDOSession, on thread: ServiceThread) {
        self.session = session
        self.thread = thread
    }

    /// Takes a link over and asks the key what it can do; a key that knows only U2F has nothing to say.
    public static func open(
        _ link: sending any FIDOLink, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        FIDOService(try FIDOSession(link, interaction), on: try thread())
    }

    /// Selects the FIDO application of a card.
    public static func open(
        card channel: sending CardChannel, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        let link: CardFIDOLink
        do { link = try CardFIDOLink(channel) } catch { throw .ctap(.link(error)) }
        return FIDOService(try FIDOSession(link, interaction), on: try thread())
    }

    /// Asks a HID device for a channel.
    public static func open(
        hid device: sending any ReportLink, environment: Environment = Environment(),
        interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        let link: HIDFIDOLink
        do { link = try HIDFIDOLink(device, environment: environment) } catch { throw .ctap(.link(error)) }
        return FIDOService(try FIDOSession(link, interaction), on: try thread())
    }

    private static func thread() throws(FIDOError) -> ServiceThread {
        do { return try ServiceThread() } catch { throw .ctap(.link(.device(error))) }
    }

    /// Whether the key knows CTAP2; otherwise it knows U2F only.
    public var hasCTAP2: Bool { session.isCTAP2 }
    /// What the carrier said of the key.
    public var profile: FIDOLinkProfile { session.ctap.link.profile }
    /// How many messages were sent to the key.
    public var messages: Int { session.ctap.link.messages }

    /// What the key can do (getInfo); asked once, and again after something changed it.
    public func info() throws(FIDOError) -> AuthenticatorInfo { try session.info() }

    /// What the key can do, asked anew.
    public func freshInfo() throws(FIDOError) -> AuthenticatorInfo {
        session.infoDidChange()
        return try session.info()
    }

    /// Makes the service refuse answers that are not in CTAP2's canonical form, or take them again.
    public func setStrict(_ isStrict: Bool) { session.ctap.mode = isStrict ? .strict : .lenient }

    /// Forgets the tokens that the key gave: the next operation asks for the PIN again.
    public func forgetToken() {
        session.token = nil
        session.persistentToken = nil
    }

    /// Lets other programs use the key until the next operation.
    public func rest() { session.ctap.link.rest() }

    /// Waits for a touch, to tell which of several keys is meant (selection; on keys that lack it, a credential that
    /// is thrown away is asked for, which CTAP 2.0 ends with the touch).
    public func select() throws(FIDOError) { try session.select() }

    /// Erases all credentials, the PIN and the fingerprints (reset).
    ///
    /// Throws `notAllowed` when the key was plugged in too long ago.
    public func reset() throws(FIDOError) {
        try session.send(ResetAuthenticator())
        session.accessDidChange()
    }

    /// Sends a CTAP2 message as it is and gives the whole answer, whose status is 00.
    public func exchange(raw message: [UInt8]) throws(FIDOError) -> [UInt8] {
        do { return try session.ctap.exchange(message, during: "raw message") } catch { throw FIDOError(error) }
    }
}
