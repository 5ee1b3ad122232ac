// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKFIDO
import YKHSMAuth
package import YKInteraction
import YKOpenPGP
import YKPIV
import YKProtocols
package import YKUse

extension Explain {
    package static let defaultManagementKey =
        "the management key is still the default; set another with "
        + "'ykit piv access change-management-key --generate --protect'"

    package static func credential(_ error: CredentialError) -> Explanation {
        switch error {
        case .empty(let id): Explanation("pin-empty", .usage, "an empty \(noun(id)) is never sent")
        case .blocked(let id): blocked(id)
        case .lastTry(let id):
            Explanation(
                "last-try", .authentication, "one try of the \(noun(id)) is left; the one at hand was not sent",
                hint: "repeat the command at a terminal and enter it there")
        case .refusedBefore(let id):
            Explanation(
                "pin-wrong", .authentication, "the key refused this \(noun(id)) before; it was not sent again",
                hint: "give the right one")
        case .declined(let id): Explanation("no-pin", .declined, "no \(noun(id)) was entered")
        case .nobodyToAsk(let id):
            Explanation("no-terminal", .declined, "there is nobody to ask for the \(noun(id))")
        }
    }

    private static func blocked(_ id: CredentialID) -> Explanation {
        switch id.kind {
        case .pivPIN: explain(PIVError.blocked(.pin))
        case .pivPUK: explain(PIVError.blocked(.puk))
        case .fidoPIN: explain(FIDOError.pinBlocked)
        case .openPGPUserPIN: explain(OpenPGPError.blocked(.user))
        case .openPGPAdminPIN: explain(OpenPGPError.blocked(.admin))
        case .openPGPResetCode: explain(OpenPGPError.blocked(.reset))
        case .hsmAuthManagementKey: explain(HSMAuthError.managementKeyBlocked)
        default: Explanation("blocked", .blocked, "no tries of the \(noun(id)) are left", retriesLeft: 0)
        }
    }

    private static func noun(_ id: CredentialID) -> String {
        switch id.kind {
        case .pivPIN, .fidoPIN, .u2fPIN: "PIN"
        case .pivPUK: "PUK"
        case .pivManagementKey: "management key"
        case .oathPassword, .hsmAuthPassword, .hsmAuthManagementKey, .serverPassword: "password"
        case .openPGPUserPIN: "user PIN"
        case .openPGPAdminPIN: "admin PIN"
        case .openPGPResetCode: "reset code"
        case .lockCode: "lock code"
        case .accessCode: "access code"
        case .passphrase: "passphrase"
        default: "secret"
        }
    }

    static func pivAccess(_ error: PIVUnlockingError) -> Explanation {
        switch error {
        case .defaultManagementKey: Explanation("management-key-default", .policy, defaultManagementKey)
        case .malformedManagementKey:
            .usage("a management key is written in hexadecimal digits: 32, 48 or 64 of them")
        case .rehearsalEnds: Explanation("plan", .failed, "the plan ends here")
        }
    }
}
