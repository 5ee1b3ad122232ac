// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The OATH application of a key (YKOATH): one-time codes (RFC 4226 and RFC 6238).
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
public actor OATHService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let session: OATHSession

    private init(_ session: sending OATHSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the application; YubiKeys from firmware 4.0 on then get extended-length commands.
    ///
    /// - Throws: `card(.appletMissing)` if the key has no OATH application, or it is disabled;
    ///   `otherApplication` for a Nitrokey 3.
    public static func open(_ channel: sending CardChannel) async throws(OATHError) -> OATHService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, OATHError.card) {
            channel throws(OATHError) in try OATHSession(channel)
        }
        return OATHService(session, runtime)
    }

    /// The application's reply to the latest SELECT.
    public var info: OATHInfo { session.info }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.channel.rest() }

    /// Closes the connection to the card.
    public func close() { session.channel.close() }

    /// Lists the accounts in the key's order (LIST). LIST does not return whether an account requires a touch.
    public func accounts() throws(OATHError) -> [OATHAccount] { try session.send(ListAccounts()) }

    /// The current time of this service's environment, in seconds since 1970.
    var now: Int64 { session.channel.environment.clock.now }
}
