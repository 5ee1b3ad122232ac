// SPDX-License-Identifier: Apache-2.0

import YKProtocols
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

    /// Exhausts the PIN's retry counter with wrong PINs. Does nothing if no retries are left.
    public func blockPIN() throws(PIVError) {
        try exhaust(.pin) { wrong throws(PIVError) in
            session.pinState = .notGiven
            try session.send(Verify(wrong)) { .refused(.pin, $0) }
        }
    }

    /// Exhausts the PUK's retry counter with wrong PUKs. Does nothing if no retries are left.
    public func blockPUK() throws(PIVError) {
        try exhaust(.puk) { wrong throws(PIVError) in
            try session.send(ChangeReference(.puk, from: wrong, to: wrong)) { .refused(.puk, $0) }
        }
    }

    /// Removes all keys, certificates and objects, and resets PIN, PUK and management key to their defaults. The
    /// attestation key and its certificate are kept.
    ///
    /// The card requires that PIN and PUK are blocked. RESET is sent first, so that nothing is blocked on a card that
    /// cannot be reset.
    ///
    /// - Throws: `fingerprintsConfigured` and `noReset` before anything is changed; `notBlocked` if the retries of PIN
    ///   or PUK are not used up by wrong values; `unfinished` for any failure once retries have been used up.
    public func reset() throws(PIVError) {
        if let fingerprints = try fingerprintMetadata(), fingerprints.isConfigured { throw .fingerprintsConfigured }
        do { return try resetBlocked() } catch {
            guard case .resetNotAllowed = error else { throw error }
        }
        try blockPIN()
        do throws(PIVError) {
            try blockPUK()
            try resetBlocked()
        } catch {
            switch error {
            case .unfinished, .uncertain(_, .card(.link)): throw error
            case .uncertain(_, let cause): throw .unfinished(.reset, cause)
            default: throw .unfinished(.reset, error)
            }
        }
    }

    /// Resets the application, as ``reset()`` does, if PIN and PUK are already blocked.
    ///
    /// - Throws: `resetNotAllowed` otherwise; `noReset` if the card does not have the command.
    public func resetBlocked() throws(PIVError) {
        do {
            try session.send(ResetPIVApplication()) { status in
                if [.conditionsNotSatisfied, .securityStatusNotSatisfied].contains(status) { return .resetNotAllowed }
                return PIVError.isUnknown(status) ? .noReset : nil
            }
        } catch { throw error.whileChanging(.reset) }
        session.forget()
        session.managementKeyType = nil
        _ = try? session.channel.select(.piv)
    }

    /// Sends wrong values until the card reports that no retries are left; no card has more than 255. Stops when the
    /// reported retries do not go down; numbers above 14 may stand for more.
    private func exhaust(
        _ reference: PIVReference, _ attempt: (borrowing PIVPIN) throws(PIVError) -> Void
    )
        throws(PIVError)
    {
        var last = Int.max
        for _ in 0...255 {
            let wrong = PIVPIN(random: try session.draw(PIVPIN.size, secret: true))
            do { try attempt(wrong) } catch {
                switch error {
                case .blocked: return
                case .wrong(_, let left):
                    guard left < last || left > 14 else { throw .notBlocked(reference) }
                    last = left
                    continue
                default: throw last == Int.max ? error : .unfinished(.reset, error)
                }
            }
        }
        throw .notBlocked(reference)
    }
}
