// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHTTP
public import YKPrivacyIDEA
import YKTransport

extension SecondFactor {
    /// Sends a PIN that verifies a number or an address (sendPinBySmsToRegister). The factor is usable only after
    /// ``verifyPIN(_:registering:_:)``. An older factor still waiting for its PIN is deleted.
    ///
    /// - Parameters:
    ///   - destination: The number or address; `nil` for the one in the user's record.
    /// - Throws: `unverifiedEnrolment` if the server's policy requires no verification; the factor is then deleted
    ///   again.
    public func sendPIN(
        registering user: String, _ channel: PINChannel, to destination: String? = nil
    ) async throws(SecondFactorError) -> PINChallenge {
        let before = try await tokens(of: user)
        let made = try await enrol(user, channel, to: destination)
        let serial = made.serial
        guard made.isUnverified else {
            try await changing(.factors) { () async throws(ServerError) in try await server.delete(serial) }
            throw .unverifiedEnrolment
        }
        for old in before where old.channel == channel && old.enrolment == .verify {
            try await changing(.challenge) { () async throws(ServerError) in try await server.delete(old.serial) }
        }
        return PINChallenge(
            purpose: .register, serial: serial, channel: channel, transactionID: nil, expiry: nil)
    }

    /// Starts the enrollment of a factor that sends PINs.
    func enrol(
        _ user: String, _ channel: PINChannel, to destination: String?
    ) async throws(SecondFactorError) -> PINEnrolment {
        if let destination, destination.isEmpty || destination.utf8.count > 254 {
            throw .invalid(channel == .sms ? "number" : "address")
        }
        let made = try await changing(.challenge) { () async throws(ServerError) in
            try await server.startEnrolment(user, realm: realm, channel, to: destination)
        }
        guard let made else { throw .server(.malformed("the new token has no serial number")) }
        return made
    }

    /// Verifies the PIN for a number or an address (verifySMSPinToRegister).
    ///
    /// - Parameters:
    ///   - channel: The channel by which it was sent, if PINs on both channels are waiting.
    /// - Returns: The factor, which is now usable.
    /// - Throws: `nothingPending`, `ambiguous`, `rejected`, `noSuchUser` or `server`.
    public func verifyPIN(
        _ pin: borrowing Secret, registering user: String, _ channel: PINChannel? = nil
    ) async throws(SecondFactorError) -> Factor {
        if pin.isEmpty { throw .invalid("PIN") }
        // A server may accept any PIN in a second verification, so the state is checked.
        let waiting = try await tokens(of: user).filter {
            $0.isPIN && $0.enrolment == .verify && (channel == nil || $0.channel == channel)
        }
        guard let token = waiting.first else { throw .nothingPending }
        guard waiting.count == 1 else { throw .ambiguous(waiting.map(\.serial)) }
        let end: PINEnrolmentEnd
        do { end = try await server.finishEnrolment(token, user, realm: realm, pin: pin) } catch {
            throw error.after(.factors)
        }
        switch end {
        case .enrolled: break
        case .waiting: throw .server(.malformed("the factor is still not enrolled"))
        case .rejected(let refusal): throw .rejected(refusal.message, by: refusal)
        }
        await cancelChallenges(of: token.serial)
        let enrolled = try await changing(.factors) { () async throws(ServerError) in
            try await server.factors(of: user, realm: realm)
        }
        guard let factor = enrolled?.first(where: { $0.serial == token.serial }) else {
            throw .server(.malformed("the factor is still not enrolled"))
        }
        return factor
    }

    /// Cancels the challenge by which a factor was verified: a server may leave it open, and it would then count as a
    /// login that waits for a PIN. The factor stays registered even if the server does not permit this.
    private func cancelChallenges(of serial: String) async {
        for challenge in (try? await server.openChallenges(of: serial)) ?? [] where challenge.serial == serial {
            try? await server.cancelChallenge(challenge.transactionID)
        }
    }

    /// Sends a PIN for a login (sendPinBySmsForLogin), without requiring the factor's own PIN.
    ///
    /// - Parameters:
    ///   - channel: The channel; `nil` for SMS if the user has it, otherwise mail.
    /// - Throws: `noFactor`, `noSuchUser` or `server`.
    public func sendPIN(
        loggingIn user: String, _ channel: PINChannel? = nil
    ) async throws(SecondFactorError) -> PINChallenge {
        let usable = try await tokens(of: user).filter { token in
            token.isUsable && token.isPIN && (channel == nil || token.channel == channel)
        }
        guard let token = usable.first(where: { $0.channel == .sms }) ?? usable.first, let sentBy = token.channel else {
            throw .noFactor(user)
        }
        let answer = try await changing(.challenge) { () async throws(ServerError) in
            try await server.challenge(user, realm: realm, factor: token.serial, at: nil)
        }
        guard let challenge = answer.challenges.first(where: { $0.serial == token.serial }) else {
            throw await refusal(answer.message, of: user, serial: token.serial, expiry: nil)
        }
        return PINChallenge(
            purpose: .login, serial: token.serial, channel: sentBy, transactionID: challenge.transactionID,
            expiry: challenge.expiry)
    }

    /// Returns the pending login PIN of a transaction, or the only pending one.
    ///
    /// - Throws: `nothingPending`, or `ambiguous` with the transactions.
    public func pendingPIN(
        of user: String, transaction: String? = nil
    ) async throws(SecondFactorError) -> PINChallenge {
        var found: [PINChallenge] = []
        for token in try await tokens(of: user) where token.isUsable {
            guard let channel = token.channel else { continue }
            let open = try await asking { () async throws(ServerError) in
                try await server.openChallenges(of: token.serial)
            }
            found += open.filter { !$0.isAnswered && $0.serial == token.serial }.map { challenge in
                PINChallenge(
                    purpose: .login, serial: token.serial, channel: channel, transactionID: challenge.transactionID,
                    expiry: challenge.expiry)
            }
        }
        if let transaction { found = found.filter { $0.transactionID == transaction } }
        let valid = found.filter { $0.expiry.map { clock.now <= $0 } ?? true }
        guard let challenge = valid.first else { throw found.isEmpty ? .nothingPending : .expired }
        guard valid.count == 1 else { throw .ambiguous(valid.compactMap(\.transactionID)) }
        return challenge
    }

    /// Verifies a PIN for a login (verifySMSPinForLogin, verifyOOBPin). A PIN is valid once, for its user and
    /// transaction.
    ///
    /// - Parameters:
    ///   - remembers: Whether the server should remember this device; requires an API key.
    /// - Returns: The cookie of the remembered device; `nil` if none was requested.
    /// - Throws: `rejected`, `locked`, `expired`, `trustNotAllowed`, `noSuchUser` or `server`.
    @discardableResult
    public func verifyPIN(
        _ pin: borrowing Secret, loggingIn user: String, _ challenge: PINChallenge, remembers: Bool = false
    ) async throws(SecondFactorError) -> SharedSecret? {
        try check(user)
        if pin.isEmpty { throw .invalid("PIN") }
        guard challenge.purpose == .login, let transaction = challenge.transactionID else { throw .nothingPending }
        let answer: FactorCheck?
        do {
            answer = try await server.check(
                user, realm: realm, pin: pin, transaction: transaction, remembers: remembers)
        } catch { throw error.after(.challenge) }
        guard let answer else { throw .noSuchUser(user) }
        guard answer.isAccepted else {
            throw await refusal(answer.message, of: user, serial: challenge.serial, expiry: challenge.expiry)
        }
        return try Self.cookie(answer, remembers)
    }

    static func cookie(_ answer: FactorCheck, _ isWanted: Bool) throws(SecondFactorError) -> SharedSecret? {
        guard isWanted else { return nil }
        guard let cookie = answer.cookie, !cookie.value.isEmpty else { throw .trustNotAllowed }
        return cookie
    }
}
