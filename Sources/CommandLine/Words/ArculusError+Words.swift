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
                "other-card", .policy, "this is another card than the one that was lost, nothing was done with it",
                hint: "repeat the command with the right card")
        case .notArculus(let aaguid):
            Explanation(
                "not-arculus", .notSupported, "this is not an Arculus card: \(Hex.uuid(aaguid))",
                hint: "without --strict any FIDO2 card will do")
        case .pinInDoubt(let retries): lost(retries)
        case .changeInDoubt:
            Explanation(
                "pin-change-in-doubt", .removed,
                "the card was lost while its PIN was changed: it has the old PIN or the new one",
                hint: "'ykit arculus info' shows the tries that are left; try the new PIN first")
        case .unsuitablePIN(let problem): problem.explanation
        case .server(let refusal): refusal.explanation
        case .http(let error): error.explanation
        case .reply(let problem): .malformed(problem.printable, hint: "it may not be the right server, or path")
        case .configuration(let problem): .usage("the description of the server: \(problem.printable)")
        }
    }

    private func explained(_ cause: WebAuthnError) -> Explanation {
        var explanation = cause.explanation
        switch code {
        case .tagLost:
            explanation = Explanation(
                "card-lost", .removed, "the card was taken away in the middle",
                hint: "hold it to the reader until it is done, and repeat the command")
        case .resetFailed:
            explanation.hint = "take the card off the reader, hold it there again, and at once: ykit arculus reset"
        case .pinFailed where cause == .key(.pinNotSet):
            explanation.hint =
                "ykit arculus reset sets one and deletes what is on the card; ykit fido2 pin set only sets it"
        case .pinFailed where cause == .key(.pinBlocked):
            explanation.hint = "only 'ykit arculus reset' helps, which deletes all credentials of this card"
        case .userNotFound:
            explanation = Explanation(
                "user-not-found", .notFound, "the card has credentials for this server, none is this user's")
        default: break
        }
        return explanation
    }

    private func lost(_ retries: PINRetries) -> Explanation {
        Explanation(
            "pin-in-doubt", .authentication,
            "the card was lost while it checked the PIN, and has a try less now: the PIN may have been wrong",
            hint: "it was not sent again; repeat the command when you are sure of it", retriesLeft: retries.count)
    }
}

extension ArculusPINProblem {
    package var explanation: Explanation {
        switch self {
        case .tooShort(let count):
            Explanation(
                "pin-too-short", .usage,
                "a PIN of an Arculus card has at least \(ArculusPIN.shortest) characters, this one has \(count); "
                    + "the card did not see it",
                hint: "a card that got a shorter one elsewhere gets another with: ykit arculus change-pin")
        case .notDigits:
            Explanation(
                "pin-not-digits", .usage, "a new PIN of an Arculus card has digits only", hint: "choose six or more")
        }
    }
}

extension ArculusRefusal {
    package var explanation: Explanation {
        let message = "the server refused: \(self.message.printable)"
        switch code {
        case .sessionExpired:
            return Explanation("session-expired", .timeOut, message, hint: "repeat the command, and be quicker")
        case .invalidSignature: return Explanation("signature-refused", .authentication, message)
        case .unknownCredential:
            return Explanation(
                "credential-unknown", .notFound, message, hint: "register the card first: ykit arculus register")
        default: break
        }
        switch httpStatus {
        case 401: return Explanation("server-refused", .authentication, message)
        case 403: return Explanation("no-account", .notFound, message, hint: "ykit arculus register")
        case 408, 504: return Explanation("server-timed-out", .timeOut, message, hint: "repeat the command")
        default: return Explanation("server-refused", .failed, message)
        }
    }
}
