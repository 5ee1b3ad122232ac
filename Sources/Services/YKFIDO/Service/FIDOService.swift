// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The FIDO application of a key: CTAP2, and U2F on keys that support it.
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave. A
/// required PIN is requested through ``FIDOInteraction``, with the remaining retries; a wrong PIN is never retried
/// automatically.
public actor FIDOService: KeyService {
    /// The runtime of the service.
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

    /// Takes over a link and reads the key's capabilities; a U2F-only key has none to report.
    public static func open(
        _ link: sending any FIDOLink, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(link, interaction) { link throws(FIDOLinkError) in link }
    }

    /// The same on the runtime that the link was opened on.
    package static func open(
        _ link: sending any FIDOLink, on runtime: ServiceRuntime, interaction: FIDOInteraction
    ) async throws(FIDOError) -> FIDOService {
        try await start(link, on: runtime, interaction) { link throws(FIDOLinkError) in link }
    }

    /// Selects the FIDO application of a card.
    public static func open(
        card channel: sending CardChannel, interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(channel, interaction) { channel throws(FIDOLinkError) in try CardFIDOLink(channel) }
    }

    /// Opens a channel on a HID device.
    public static func open(
        hid device: sending any ReportLink, environment: ServiceEnvironment = ServiceEnvironment(),
        interaction: FIDOInteraction = FIDOInteraction()
    ) async throws(FIDOError) -> FIDOService {
        try await start(device, interaction) { device throws(FIDOLinkError) in
            try HIDFIDOLink(device, environment: environment)
        }
    }

    /// Creates the link and performs the first exchanges on the service's thread.
    private static func start<Carrier>(
        _ carrier: sending Carrier, on runtime: ServiceRuntime? = nil, _ interaction: FIDOInteraction,
        _ link: @escaping @Sendable (sending Carrier) throws(FIDOLinkError) -> sending any FIDOLink
    ) async throws(FIDOError) -> FIDOService {
        let broadcast = Broadcast<FIDOKeepalive>()
        let (runtime, session) = try await ServiceRuntime.open(
            carrier, on: runtime, { FIDOError.ctap(.link(.device($0))) }
        ) {
            carrier, runtime throws(FIDOError) in
            let made: any FIDOLink
            do throws(FIDOLinkError) { made = try link(carrier) } catch { throw .ctap(.link(error)) }
            return try FIDOSession(made, interaction, runtime, broadcast)
        }
        return FIDOService(session, runtime, broadcast)
    }

    /// A sequence of what the key reports while it works, from now on (CTAPHID_KEEPALIVE); ends with the service.
    public nonisolated var progress: AsyncStream<FIDOKeepalive> { broadcast.stream() }

    /// Whether the key supports CTAP2; otherwise it supports U2F only.
    public var hasCTAP2: Bool { session.isCTAP2 }
    /// What the transport reported about the key.
    public var profile: FIDOLinkProfile { session.ctap.link.profile }
    /// The number of messages sent to the key.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.ctap.messages) }

    /// Returns the key's capabilities (getInfo); cached until something changes them.
    public func info() throws(FIDOError) -> AuthenticatorInfo { try session.info() }

    /// Returns the key's capabilities, bypassing the cache.
    public func freshInfo() throws(FIDOError) -> AuthenticatorInfo {
        session.infoDidChange()
        return try session.info()
    }

    /// Sets whether responses that are not in CTAP2's canonical form are refused.
    public func setStrict(_ isStrict: Bool) { session.ctap.mode = isStrict ? .strict : .lenient }

    /// Discards the tokens that the key issued: the next operation requests the PIN again.
    public func forgetToken() {
        session.token = nil
        session.persistentToken = nil
    }

    /// Lets other programs use the key until the next operation.
    public func rest() {
        session.ctap.link.rest()
        runtime.rest()
    }

    /// Closes the connection to the key.
    public func close() {
        session.ctap.link.close()
        runtime.close()
        broadcast.finish()
    }

    /// Waits for a touch, so that the user can select one of several keys (selection; on keys without it, an attempt to
    /// create a temporary credential, which CTAP 2.0 ends with the touch).
    public func select() throws(FIDOError) { try session.select() }

    /// Erases all credentials, the PIN and the fingerprints (reset).
    ///
    /// - Throws: `notAllowed` if the key was plugged in too long ago.
    public func reset() throws(FIDOError) {
        try session.send(ResetAuthenticator())
        session.accessDidChange()
    }

    /// Sends a CTAP2 message unchanged and returns the whole response, whose status is 00.
    public func exchange(raw message: [UInt8]) throws(FIDOError) -> [UInt8] {
        do { return try session.ctap.exchange(message, during: "raw message") } catch { throw FIDOError(error) }
    }

    /// Creates a credential (makeCredential, or U2F REGISTER on keys without CTAP2): requests the PIN if it is
    /// required, then waits for a touch.
    ///
    /// - Throws: `credentialExcluded`, `full`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func register(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else { return try session.registerU2F(request) }
            return try session.withAccess { () throws(FIDOError) in try session.register(request) }
        }
    }

    /// Requests assertions (getAssertion and getNextAssertion, or U2F AUTHENTICATE on keys without CTAP2): from all
    /// discoverable credentials of the relying party if no list is given, otherwise from one credential of the list.
    ///
    /// - Throws: `noCredentials`, `pinNeeded`, `wrongPIN`, `touchTimeout`, `unsupported` and others.
    public func assert(_ request: AssertionRequest) throws(FIDOError) -> [Assertion] {
        try session.within(request.timeout) { () throws(FIDOError) in
            guard session.isCTAP2, !request.usesU2F else {
                return [try session.assertU2F(request, for: [request.rpID, request.alternativeID].compactMap { $0 })]
            }
            return try session.withAccess { () throws(FIDOError) in try session.assert(request) }
        }
    }
}
