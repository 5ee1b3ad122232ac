// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// The OATH application of a key (YKOATH): one-time codes after RFC 4226 and RFC 6238.
///
/// Every method runs a whole exchange with the key on a thread of its own; two callers never mix on the card.
public actor OATHService {
    private let thread: ServiceThread
    let session: OATHSession

    /// The thread the key is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ session: sending OATHSession, on thread: ServiceThread) {
        self.session = session
        self.thread = thread
    }

    /// Selects the application; YubiKeys from firmware 4.0 on get commands of extended length from then on.
    ///
    /// Throws `card(.appletMissing)` when the key has no OATH, or it is switched off.
    public static func open(_ channel: sending CardChannel) async throws(OATHError) -> OATHService {
        let thread: ServiceThread
        do { thread = try channel.environment.serviceThread() } catch { throw .card(.link(error)) }
        return OATHService(try await Opening(on: thread).session(channel), on: thread)
    }

    /// What the application said of itself when it was selected last.
    public var info: OATHInfo { session.info }

    /// How many exchanges were made with the card.
    public var exchanges: Int { session.channel.exchanges }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.channel.rest() }

    /// Lists the accounts in the key's order (LIST). It never tells whether an account needs a touch.
    public func accounts() throws(OATHError) -> [OATHAccount] { try session.send(ListAccounts()) }

    /// The time of day in the world of this service, in seconds since 1970.
    var now: Int64 { session.channel.environment.clock.now }
}

/// Selects on the thread of the service that is to be: SELECT blocks as every other exchange does.
private actor Opening {
    private let thread: ServiceThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(on thread: ServiceThread) { self.thread = thread }

    func session(_ channel: sending CardChannel) throws(OATHError) -> sending OATHSession { try OATHSession(channel) }
}
