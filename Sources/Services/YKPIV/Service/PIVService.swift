// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The PIV application of a key (NIST SP 800-73-4, with Yubico's additions): keys, certificates, PINs.
///
/// Every method runs a whole exchange with the card on a thread of its own; two callers never mix on it.
public actor PIVService: CardKeyService {
    /// What runs the service.
    public nonisolated let runtime: ServiceRuntime
    let session: PIVSession

    private init(_ session: sending PIVSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the application and asks for its version; YubiKeys from firmware 4.0 on get commands of extended
    /// length from then on.
    ///
    /// Throws `card(.appletMissing)` when the card has no PIV, or it is switched off.
    public static func open(_ channel: sending CardChannel) async throws(PIVError) -> PIVService {
        let (runtime, session) = try await ServiceRuntime.open(channel, { PIVError.card(.link($0)) }) {
            channel, runtime throws(PIVError) in
            channel.runtime = runtime
            return try PIVSession(channel)
        }
        return PIVService(session, runtime)
    }

    /// Which application it is.
    public var identity: PIVIdentity { session.identity }

    /// How many exchanges were made with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// Lets other programs use the card until the next operation; the PIN has to be given again when one did.
    public func rest() { session.channel.rest() }

    /// Ends the use of the card.
    public func close() { session.channel.close() }

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
