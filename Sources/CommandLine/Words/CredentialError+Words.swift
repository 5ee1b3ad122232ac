// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKDesktop
import YKFIDO
import YKHSMAuth
package import YKInteraction
import YKOpenPGP
import YKPIV
import YKProtocols
package import YKUse

extension CredentialError: Explained {
    package var explanation: Explanation {
        switch self {
        case .empty(let id): Explanation("pin-empty", .usage, "the \(id.noun) must not be empty")
        case .blocked(let id): id.blocked
        case .lastTry(let id):
            Explanation(
                "last-try", .authentication, "only one try is left for the \(id.noun); the given one was not sent",
                hint: "repeat the command in a terminal and enter it there")
        case .refusedBefore(let id):
            Explanation(
                "pin-wrong", .authentication, "the key has already refused this \(id.noun); it was not sent again",
                hint: "give the correct one")
        case .declined(let id): Explanation("no-pin", .declined, "no \(id.noun) was entered")
        case .nobodyToAsk(let id):
            Explanation("no-terminal", .declined, "cannot ask for the \(id.noun): no terminal")
        }
    }
}

extension Declined: Explained {
    package var explanation: Explanation {
        switch self {
        case .no: Explanation("declined", .declined, "declined")
        case .nobodyToAsk: Explanation("no-terminal", .declined, "cannot ask without a terminal")
        case .withdrawn: Explanation("withdrawn", .declined, "the question was withdrawn")
        case .timedOut: Explanation("no-answer", .declined, "there was no answer in time")
        case .interrupted: .interrupted
        }
    }
}

extension CredentialID {
    fileprivate var blocked: Explanation {
        let known: [CredentialKind: any Explained] = [
            .pivPIN: PIVError.blocked(.pin), .pivPUK: PIVError.blocked(.puk), .fidoPIN: FIDOError.pinBlocked,
            .openPGPUserPIN: OpenPGPError.blocked(.user), .openPGPAdminPIN: OpenPGPError.blocked(.admin),
            .openPGPResetCode: OpenPGPError.blocked(.reset), .hsmAuthManagementKey: HSMAuthError.managementKeyBlocked,
        ]
        return known[kind]?.explanation
            ?? Explanation("blocked", .blocked, "no tries are left for the \(noun)", retriesLeft: 0)
    }

    fileprivate var noun: String { kind.noun }
}

extension PIVUnlockingError: Explained {
    package var explanation: Explanation {
        switch self {
        case .defaultManagementKey: .defaultManagementKey
        case .malformedManagementKey:
            .usage("a management key consists of 32, 48 or 64 hexadecimal digits")
        case .rehearsalEnds: Explanation("plan", .failed, "the plan ends here")
        }
    }
}

extension TouchMissed: Explained {
    /// A card may send nothing while it waits for a touch, so only the timeout reveals that nobody touched it.
    package var explanation: Explanation {
        Explanation(
            "not-touched", .timeOut, "the key was not touched in time",
            hint:
                "repeat the command and touch the key while it blinks; it may keep waiting until its own timeout"
        )
    }
}

extension PromptFailure: Explained {
    package var explanation: Explanation {
        switch self {
        case .declined: Explanation("declined", .declined, "the question was answered with no")
        case .timedOut: Explanation("declined", .declined, "the question was not answered in time")
        case .withdrawn: Explanation("declined", .declined, "the question was withdrawn")
        case .cannotAsk(let program, let reason):
            Explanation(
                "no-prompt", .declined, "\(program.printable) cannot ask: \(reason.printable)",
                hint: "without a display, name a terminal (export GPG_TTY=$(tty)) or a program (SSH_ASKPASS,"
                    + " SSH_ASKPASS_REQUIRE=force) before the agent starts, or run it in the foreground")
        }
    }
}
