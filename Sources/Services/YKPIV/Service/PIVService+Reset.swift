// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension PIVService {
    /// Uses up all tries of the PIN with wrong ones. Does nothing when none is left.
    public func blockPIN() throws(PIVError) {
        try exhaust(.pin) { wrong throws(PIVError) in
            session.pinState = .notGiven
            try session.send(Verify(wrong)) { .refused(.pin, $0) }
        }
    }

    /// Uses up all tries of the PUK with wrong ones. Does nothing when none is left.
    public func blockPUK() throws(PIVError) {
        try exhaust(.puk) { wrong throws(PIVError) in
            try session.send(ChangeReference(.puk, from: wrong, to: wrong)) { .refused(.puk, $0) }
        }
    }

    /// Removes all keys, certificates and objects, and makes PIN, PUK and management key those of a new card: blocks
    /// PIN and PUK first, because the card allows it only then. The attestation key and its certificate stay.
    ///
    /// Throws `fingerprintsConfigured` before anything is changed.
    public func reset() throws(PIVError) {
        if let fingerprints = try fingerprintMetadata(), fingerprints.isConfigured { throw .fingerprintsConfigured }
        try blockPIN()
        try blockPUK()
        try resetBlocked()
    }

    /// Removes everything, as ``reset()`` does, where PIN and PUK are blocked already. Throws `resetNotAllowed`
    /// otherwise.
    public func resetBlocked() throws(PIVError) {
        do {
            try session.send(ResetApplication()) { $0 == .conditionsNotSatisfied ? .resetNotAllowed : nil }
        } catch { throw error.whileChanging(.reset) }
        session.forget()
        session.managementKeyType = nil
        _ = try? session.channel.select(.piv)
    }

    /// Tries wrong ones until the card says that none is left; no card has more than 255.
    private func exhaust(
        _ reference: PIVReference, _ attempt: (borrowing PIVPIN) throws(PIVError) -> Void
    )
        throws(PIVError)
    {
        for _ in 0...255 {
            let wrong = PIVPIN(random: try session.draw(PIVPIN.size, secret: true))
            do { try attempt(wrong) } catch {
                switch error {
                case .blocked: return
                case .wrong: continue
                default: throw error
                }
            }
        }
        throw .resetNotAllowed
    }
}
