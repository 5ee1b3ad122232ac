// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHTTP
package import YKSecondFactor

extension SecondFactorError: Explained {
    package var explanation: Explanation {
        var explanation = aboutFactor
        var codes = explanation.server ?? ServerCodes()
        if case .rejected(_, .refused(let status, let code, _)?) = self {
            codes = ServerCodes(httpStatus: status, serverCode: code)
        }
        codes.legacyCode = legacyCode
        explanation.server = codes
        return explanation
    }

    private var aboutFactor: Explanation {
        switch self {
        case .server(let error): error.explanation
        case .uncertain(let error, let change): Self.uncertain(error.explanation, change)
        case .key(let error): error.explanation
        case .invalid(let what): .usage("the \(what) is empty or cannot be sent to the server")
        case .noSuchUser(let user):
            Explanation("no-such-user", .notFound, "the server has no user '\(user.printable)'")
        case .userExists(let user):
            Explanation("user-exists", .policy, "the server already has a user '\(user.printable)'")
        case .otherAccount(let account, let user):
            Explanation(
                "other-account", .policy,
                "'\(account.printable)' is an ordinary user of the server and can act only for itself, not for "
                    + "'\(user.printable)'",
                hint: "log in as an administrator: --account NAME")
        case .notEnrolled(let serials):
            Explanation(
                "not-enrolled", .policy,
                "the enrollment of \(serials.joined(separator: ", ").printable) is not complete; nothing was enabled",
                hint: "verify the number or address first: ykit 2fa verify-pin USER --register")
        case .noFactor(let user):
            Explanation(
                "no-factor", .notFound, "'\(user.printable)' has no second factor that is usable here",
                hint: "'ykit 2fa status \(user.printable)' lists the factors")
        case .noSuchDevice(let name):
            Explanation(
                "no-such-device", .notFound, "no device has the name '\(name.printable)'",
                hint: "'ykit 2fa device status' and 'ykit 2fa trust status' list them")
        case .noSuchClient(let name):
            Explanation(
                "no-such-client", .notFound, "no registered client has this API key or the name '\(name.printable)'",
                hint: "'ykit 2fa api-key list' lists them")
        case .ambiguous(let names):
            Explanation("ambiguous", .severalDevices, "several match; choose one", candidates: names)
        case .rejected(let text, _):
            Explanation(
                "rejected", .authentication, "the server refused the PIN, code or signature\(Self.reason(text))")
        case .locked(let text):
            Explanation(
                "locked", .blocked, "too many wrong attempts; every attempt is refused\(Self.reason(text))",
                hint: "an administrator can reset the fail counter, or wait")
        case .expired: Explanation("expired", .timeOut, "the PIN has expired", hint: "have another one sent")
        case .nothingPending:
            Explanation(
                "nothing-pending", .notFound, "no PIN is waiting to be verified", hint: "ykit 2fa send-pin USER")
        case .unverifiedEnrolment:
            Explanation(
                "unverified-enrolment", .policy,
                "the server would accept the number without verification; nothing was registered",
                hint: "set its enrollment policy verify_enrollment for sms and email")
        case .noVerifiedChannel:
            Explanation(
                "no-verified-channel", .policy, "a key can be registered only after a phone number or email address",
                hint: "ykit 2fa send-pin USER --register first, or --no-condition")
        case .otherUser(let user):
            Explanation("other-user", .authentication, "the passkey belongs to '\(user.printable)'")
        case .trustNotAllowed:
            Explanation(
                "trust-not-allowed", .policy, "the PIN was correct, but the server did not mark this device as trusted",
                hint: "ykit 2fa trust allow USER on; the API key must belong to a registered client")
        case .notTrusted(true):
            Explanation(
                "trust-revoked", .authentication,
                "the server no longer trusts this device: it was removed, or its cookie was used elsewhere",
                hint:
                    "if it was not removed on purpose, the cookie was copied; the server then forgets all devices of the user"
            )
        case .notTrusted(false): Explanation("not-trusted", .authentication, "the server does not trust this device")
        }
    }

    private static func reason(_ text: String?) -> String { text.map { ": \($0.printable)" } ?? "" }

    /// Adds what may have been done anyway, and how to find out.
    private static func uncertain(_ explanation: Explanation, _ change: SecondFactorChange) -> Explanation {
        var explanation = explanation
        explanation.hint =
            switch change {
            case .factors:
                "the server may have done it anyway: 'ykit 2fa status USER' shows the factors"
            case .user:
                "the user may exist without a factor: 'ykit 2fa status USER' shows it; remove the user at the server"
            case .challenge:
                "a PIN may have been sent or used up anyway: 'ykit 2fa send-pin USER' sends another"
            case .trust:
                "the server may have done it anyway: 'ykit 2fa trust status USER' shows the devices"
            case .apiKey:
                "the client may exist with an API key that was never shown; an older API key is then invalid: 'ykit 2fa "
                    + "api-key list' shows it, 'rotate' generates another one"
            }
        return explanation
    }
}

extension VaultError: Explained {
    package var explanation: Explanation {
        switch self {
        case .store(let error): error.explanation
        case .noSession:
            Explanation(
                "no-log-in", .notFound, "no login is stored",
                hint: "name the server with --server URL or YKIT_2FA_SERVER, or store a login: ykit 2fa login --keep")
        case .severalSessions(let servers):
            Explanation(
                "ambiguous", .severalDevices, "logins to several servers are stored; choose one with --server",
                candidates: servers)
        case .expired:
            Explanation(
                "log-in-expired", .authentication, "the stored login has expired",
                hint: "ykit 2fa login --keep")
        case .malformed: .malformed("the stored login cannot be read", hint: "ykit 2fa login --keep")
        }
    }
}
