// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The FIDO application of a key: CTAP2, and U2F on keys that have it.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the key. A PIN is
/// asked for through ``FIDOInteraction`` when one is needed, with the tries that are left; a wrong one is never
/// tried again by itself.
public actor FIDOService: KeyService {
    /// What runs the service.
    public nonisolated let runtime: ServiceRuntime
    let session: FIDOSession
    private nonisolated let broadcast: Broadcast<FIDOKeepalive>

    private init(
        _ session: sending FIDOSession, _ runtime: ServiceRuntime, _ broadcast: Broadcast<FIDOKeepalive>
    ) {
        self.session = session
        self.runtime = runtime
        self.broadcast = broadcast
    }

    /// Takes a link over and asks the key what it can do; a key that knows only U2F has nothing to say.
    public static func open(
        _ link: sending any FIDOLink, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(link, interaction) { link throws(FIDOLinkError) in link }
    }

    /// Selects the FIDO application of a card.
    public static func open(
        card channel: sending CardChannel, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(channel, interaction) { channel throws(FIDOLinkError) in try CardFIDOLink(channel) }
    }

    /// Asks a HID device for a channel.
    public static func open(
        hid device: sending any ReportLink, environment: Environment = Environment(),
        interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(device, interaction) { device throws(FIDOLinkError) in
            try HIDFIDOLink(device, environment: environment)
        }
    }

    /// Makes the link and does the first exchanges on the thread of the service.
    private static func start<Carrier>(
        _ carrier: sending Carrier, _ interaction: FIDOInteraction,
        _ link: @escaping @Sendable (sending Carrier) throws(FIDOLinkError) -> sending any FIDOLink
    ) async throws(FIDOError) -> FIDOService {
        let broadcast = Broadcast<FIDOKeepalive>()
        let (runtime, session) = try await ServiceRuntime.open(carrier, { FIDOError.ctap(.link(.device($0))) }) {
            carrier, runtime throws(FIDOError) in
            let made: any FIDOLink
            do throws(FIDOLinkError) { made = try link(carrier) } catch { throw .ctap(.link(error)) }
            return try FIDOSession(made, interaction, runtime, broadcast)
        }
        return FIDOService(session, runtime, broadcast)
    }

    /// What the key says that it is doing, from now on, operation by operation (CTAPHID_KEEPALIVE); ends with the service.
    public nonisolated var progress: AsyncStream<FIDOKeepalive> { broadcast.stream() }

    /// Whether the key knows CTAP2; otherwise it knows U2F only.
    public var hasCTAP2: Bool { session.isCTAP2 }
    /// What the carrier said of the key.
    public var profile: FIDOLinkProfile { session.ctap.link.profile }
    /// How many messages were sent to the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.ctap.link.messages) }

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
    public func rest() {
        session.ctap.link.rest()
        runtime.rest()
    }

    /// Ends the use of the key.
    public func close() {
        session.ctap.link.close()
        runtime.close()
        broadcast.finish()
    }

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
