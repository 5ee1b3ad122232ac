// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The OATH application of a key (YKOATH): one-time codes after RFC 4226 and RFC 6238.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the card.
public actor OATHService: CardKeyService {
    /// What runs the service.
    public nonisolated let runtime: ServiceRuntime
    let session: OATHSession

    private init(_ session: sending OATHSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the application; YubiKeys from firmware 4.0 on get commands of extended length from then on.
    ///
    /// Throws `card(.appletMissing)` when the key has no OATH, or it is switched off.
    public static func open(_ channel: sending CardChannel) async throws(OATHError) -> OATHService {
        let (runtime, session) = try await ServiceRuntime.open(channel, { OATHError.card(.link($0)) }) {
            channel, runtime throws(OATHError) in
            channel.runtime = runtime
            return try OATHSession(channel)
        }
        return OATHService(session, runtime)
    }

    /// What the application said of itself when it was selected last.
    public var info: OATHInfo { session.info }

    /// How many exchanges were made with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.channel.rest() }

    /// Ends the use of the card.
    public func close() { session.channel.close() }

    /// Lists the accounts in the key's order (LIST). It never tells whether an account needs a touch.
    public func accounts() throws(OATHError) -> [OATHAccount] { try session.send(ListAccounts()) }

    /// The time of day in the world of this service, in seconds since 1970.
    var now: Int64 { session.channel.environment.clock.now }
}
