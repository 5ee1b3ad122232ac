// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The PIV application of a key (NIST SP 800-73-4, with Yubico's additions): keys, certificates, PINs.
///
/// Every method runs a whole exchange with the card on a thread of its own; two callers never mix on it.
public actor PIVService {
    private let thread: ServiceThread
    let session: PIVSession

    /// The thread the card is talked to on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    private init(_ session: sending PIVSession, on thread: ServiceThread) {
        self.session = session
        self.thread = thread
    }

    /// Selects the application and asks for its version; YubiKeys from firmware 4.0 on get commands of extended
    /// length from then on.
    ///
    /// Throws `card(.appletMissing)` when the card has no PIV, or it is switched off.
    public static func open(_ channel: sending CardChannel) async throws(PIVError) -> PIVService {
        let thread: ServiceThread
        do { thread = try channel.environment.serviceThread() } catch { throw .card(.link(error)) }
        return PIVService(try await Opening(on: thread).session(channel), on: thread)
    }

    /// Which application it is.
    public var identity: PIVIdentity { session.identity }

    /// How many exchanges were made with the card.
    public var exchanges: Int { session.channel.exchanges }

    /// Lets other programs use the card until the next operation; the PIN has to be given again when one did.
    public func rest() { session.channel.rest() }

    /// The serial number of the key (GET SERIAL); `nil` when the card does not say.
    public func serial() throws(PIVError) -> UInt32? {
        if identity.supports(.serial) == false { return nil }
        do { return try session.send(GetSerial()) } catch {
            switch error {
            case .card(.status), .full: return nil
            default: throw error
            }
        }
    }
}

/// Selects on the thread of the service that is to be: SELECT blocks as every other exchange does.
private actor Opening {
    private let thread: ServiceThread

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(on thread: ServiceThread) { self.thread = thread }

    func session(_ channel: sending CardChannel) throws(PIVError) -> sending PIVSession { try PIVSession(channel) }
}
