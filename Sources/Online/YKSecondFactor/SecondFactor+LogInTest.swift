// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
import YKPrivacyIDEA

/// A step of a login with a second factor, in the order of the SDK's figures.
public enum LogInStep: Hashable, Sendable {
    /// The user's second factor was read.
    case status(SecondFactorStatus.State)
    /// The server was asked whether it remembers this device.
    case trusted(Bool)
    /// A key verified the user.
    case key(serial: String)
    /// A PIN was sent.
    case pinSent(PINChallenge)
    /// The PIN was correct.
    case pinVerified
}

/// The result of a login.
public struct LogInOutcome: Sendable {
    /// The steps of the login.
    public let steps: [LogInStep]
    /// The next cookie, if this device is remembered.
    public let cookie: SharedSecret?
}

extension SecondFactor {
    /// Runs a login as a service would: reads the status, then uses a remembered device, otherwise a key, otherwise a
    /// PIN.
    ///
    /// - Parameters:
    ///   - cookie: The cookie of a remembered device, if there is one; requires an API key.
    ///   - key: Opens the key, for users who have one.
    ///   - pin: Asks for the PIN that was sent.
    ///   - report: Called after each step.
    /// - Throws: `SecondFactorError`, such as `noFactor` for users without a usable factor, and the errors of `key` and
    ///   `pin`.
    public func testLogIn(
        _ user: String, cookie: SharedSecret? = nil, key: (() async throws -> WebAuthnClient)?,
        pin: ((PINChallenge) async throws -> SharedSecret)?, report: (LogInStep) -> Void
    ) async throws -> LogInOutcome {
        var steps: [LogInStep] = []
        func done(_ step: LogInStep) {
            steps.append(step)
            report(step)
        }
        let status = try await status(of: user)
        done(.status(status.state))
        guard status.state == .sms || status.state == .fp else { throw SecondFactorError.noFactor(user) }
        if let cookie {
            let next = try await renewed(cookie, of: user)
            done(.trusted(next != nil))
            if let next { return LogInOutcome(steps: steps, cookie: next) }
        }
        if status.state == .fp, let key {
            let hasKey = status.factors.contains { $0.kind == .webAuthn && $0.isUsable }
            if hasKey {
                let answered = try await verifyKey(user, try await key())
                done(.key(serial: answered.serial))
            } else {
                let answered = try await verifyPasskey(try await key(), of: user)
                done(.key(serial: answered.serial))
            }
            return LogInOutcome(steps: steps, cookie: nil)
        }
        guard let pin else { throw SecondFactorError.noFactor(user) }
        let challenge = try await sendPIN(loggingIn: user)
        done(.pinSent(challenge))
        let typed = try await pin(challenge)
        try await verifyPIN(typed.value, loggingIn: user, challenge)
        done(.pinVerified)
        return LogInOutcome(steps: steps, cookie: nil)
    }

    /// Returns the next cookie; `nil` if the server does not remember the device.
    private func renewed(
        _ cookie: SharedSecret, of user: String
    ) async throws(SecondFactorError) -> SharedSecret? {
        do { return try await checkTrust(user, cookie: cookie.value) } catch {
            if case .notTrusted = error { return nil }
            throw error
        }
    }
}
