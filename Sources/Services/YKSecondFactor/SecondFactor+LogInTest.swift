// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
import YKPrivacyIDEA

/// What happens in a log-in with a second factor, in the order of the SDK's figures.
public enum LogInStep: Hashable, Sendable {
    /// The user's factor is known.
    case status(SecondFactorStatus.State)
    /// The server was asked whether it remembers this device.
    case trusted(Bool)
    /// A key verified the user.
    case key(serial: String)
    /// A PIN was sent.
    case pinSent(PINChallenge)
    /// The PIN was right.
    case pinVerified
}

/// What a log-in has at hand.
public struct LogInMeans: Sendable {
    /// The cookie of a remembered device; needs an API key.
    public var cookie: SharedSecret?
    /// The key, for users who have one.
    public var key: (@Sendable () async throws(SecondFactorError) -> WebAuthnClient)?
    /// Asks for the PIN that was sent.
    public var pin: (@Sendable (PINChallenge) async throws(SecondFactorError) -> SharedSecret)?

    /// Nothing yet.
    public init() {}
}

/// How a log-in ended.
public struct LogInOutcome: Sendable {
    /// Its steps.
    public let steps: [LogInStep]
    /// The cookie for the next time, when this device is remembered.
    public let cookie: SharedSecret?
}

extension SecondFactor {
    /// Goes through a log-in as a service would: the status, then a remembered device, else a key, else a PIN.
    ///
    /// - Parameters:
    ///   - report: Told each step as it is done.
    /// - Throws: `noFactor` for users without a factor that can be used here, and what the steps throw.
    public func testLogIn(
        _ user: String, _ means: LogInMeans, report: (LogInStep) -> Void
    ) async throws(SecondFactorError) -> LogInOutcome {
        var steps: [LogInStep] = []
        func done(_ step: LogInStep) {
            steps.append(step)
            report(step)
        }
        let status = try await status(of: user)
        done(.status(status.state))
        guard status.state == .sms || status.state == .fp else { throw .noFactor(user) }
        if let cookie = means.cookie {
            do {
                let next = try await checkTrust(user, cookie: cookie.value)
                done(.trusted(true))
                return LogInOutcome(steps: steps, cookie: next)
            } catch {
                guard case .notTrusted = error else { throw error }
                done(.trusted(false))
            }
        }
        if status.state == .fp, let key = means.key {
            let client = try await key()
            let hasKey = status.factors.contains { $0.kind == .webAuthn && $0.isUsable }
            let serial =
                hasKey
                ? try await verifyKey(user, client).serial : try await verifyPasskey(client, of: user).serial
            done(.key(serial: serial))
            return LogInOutcome(steps: steps, cookie: nil)
        }
        guard let pin = means.pin else { throw .noFactor(user) }
        let challenge = try await sendPIN(loggingIn: user)
        done(.pinSent(challenge))
        let typed = try await pin(challenge)
        try await verifyPIN(typed.value, loggingIn: user, challenge)
        done(.pinVerified)
        return LogInOutcome(steps: steps, cookie: nil)
    }
}
