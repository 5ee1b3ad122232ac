// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

/// The PIV application of a key (NIST SP 800-73-4, with Yubico's additions): keys, certificates, PINs.
///
/// Every method runs a whole exchange with the card on the service's own thread; concurrent calls never interleave.
public actor PIVService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let session: PIVSession

    private init(_ session: sending PIVSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the application and reads its version; YubiKeys from firmware 4.0 on then get extended-length commands.
    ///
    /// - Throws: `card(.appletMissing)` if the card has no PIV application, or it is disabled.
    public static func open(_ channel: sending CardChannel) async throws(PIVError) -> PIVService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, PIVError.card) {
            channel throws(PIVError) in try PIVSession(channel)
        }
        return PIVService(session, runtime)
    }

    /// The application's identity.
    public var identity: PIVIdentity { session.identity }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// Lets other programs use the card until the next operation. If the PIN or the management key was verified, the
    /// card is reset first, and they must be verified again.
    public func rest() { session.channel.rest() }

    /// Closes the connection to the card.
    public func close() { session.channel.close() }

    /// Reads the serial number of the key (GET SERIAL); `nil` if the card does not report it.
    public func serial() throws(PIVError) -> UInt32? { try askSerial().value }

    /// A Token2 key answers with the decimal digits that are printed on it.
    func askSerial() throws(PIVError) -> CardAnswer<UInt32> {
        if identity.supports(.serial) == false { return .refused(.unknownInstruction) }
        let isDigits = session.channel.identity.isToken2
        return try session.ask(GetSerial()).map { number in
            isDigits ? UInt32(String(number, radix: 16)) ?? number : number
        }
    }
}
