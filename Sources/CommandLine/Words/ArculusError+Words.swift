// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKArculus
import YKFIDO
import YKWire

extension ArculusError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let cause, _): explained(cause)
        case .reader(let error): error.explanation
        case .otherCard:
            Explanation(
                "other-card", .policy, "this is not the card that was removed; nothing was done with it",
                hint: "repeat the command with the right card")
        case .notArculus(let aaguid):
            Explanation(
                "not-arculus", .notSupported, "this is not an Arculus card: \(Hex.uuid(aaguid))",
                hint: "without --strict any FIDO2 card is accepted")
        case .pinInDoubt(let retries): lost(retries)
        case .changeInDoubt:
            Explanation(
                "pin-change-in-doubt", .removed,
                "the card was removed while its PIN was being changed: it has either the old PIN or the new one",
                hint: "'ykit arculus info' shows the remaining tries; try the new PIN first")
        case .unsuitablePIN(let problem): problem.explanation
        case .server(let refusal): refusal.explanation
        case .http(let error): error.explanation
        case .reply(let problem): .malformed(problem.printable, hint: "check the server's address and path")
        case .configuration(let problem): .usage("the server's description is invalid: \(problem.printable)")
        }
    }

    private func explained(_ cause: WebAuthnError) -> Explanation {
        if code == .tagLost {
            return Explanation(
                "card-lost", .removed, "the card was removed during the operation",
                hint: "hold it to the reader until the command has finished, and repeat the command")
        }
        if code == .userNotFound {
            return Explanation(
                "user-not-found", .notFound, "the card has credentials for this server, but none for this user")
        }
        var explanation = cause.explanation
        if code == .resetFailed {
            explanation.hint = "remove the card from the reader, put it back, and immediately run: ykit arculus reset"
        } else if code == .pinFailed, cause == .key(.pinNotSet) {
            explanation.hint =
                "'ykit arculus reset' sets one and deletes everything on the card; 'ykit fido2 pin set' only sets it"
        } else if code == .pinFailed, cause == .key(.pinBlocked) {
            explanation.hint = "only 'ykit arculus reset' clears this; it deletes all credentials on this card"
        }
        return explanation
    }

    private func lost(_ retries: PINRetries) -> Explanation {
        Explanation(
            "pin-in-doubt", .authentication,
            "the card was removed while it checked the PIN and now has one fewer try: the PIN may have been wrong",
            hint: "ykit did not send it again; repeat the command when you are sure of the PIN",
            retriesLeft: retries.count)
    }
}

extension ArculusPINProblem {
    package var explanation: Explanation {
        switch self {
        case .tooShort(let count):
            Explanation(
                "pin-too-short", .usage,
                "the PIN of an Arculus card must have at least \(ArculusPIN.shortest) characters, this one has \(count); "
                    + "it was not sent to the card",
                hint: "if a shorter one was set with another tool, change it with: ykit arculus change-pin")
        case .notDigits:
            Explanation(
                "pin-not-digits", .usage, "a new PIN of an Arculus card must consist of digits",
                hint: "choose six or more")
        }
    }
}

extension ArculusRefusal {
    package var explanation: Explanation {
        let (name, exit, hint) = Self.known[code] ?? Self.ofHTTP[httpStatus] ?? ("server-refused", .failed, nil)
        return Explanation(name, exit, "the server refused: \(message.printable)", hint: hint)
    }

    private typealias Reason = (name: String, exit: ExitStatus, hint: String?)

    private static let known: [ArculusCode: Reason] = [
        .sessionExpired: ("session-expired", .timeOut, "repeat the command and answer sooner"),
        .invalidSignature: ("signature-refused", .authentication, nil),
        .unknownCredential: ("credential-unknown", .notFound, "register the card first: ykit arculus register"),
    ]

    private static let ofHTTP: [Int: Reason] = [
        401: ("server-refused", .authentication, nil), 403: ("no-account", .notFound, "ykit arculus register"),
        408: ("server-timed-out", .timeOut, "repeat the command"),
        504: ("server-timed-out", .timeOut, "repeat the command"),
    ]
}
