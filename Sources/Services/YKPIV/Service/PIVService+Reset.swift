// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension PIVService {
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
