// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKApproval
import YKOATH

extension Explain {
    /// Explains errors about links, TiQR logins and containers.
    package static func codes(_ error: ApprovalError) -> Explanation {
        switch error {
        case .link(let error):
            malformed("the link cannot be read: \(error)", hint: "ask for a new one")
        case .otherAccount(let name):
            Explanation(
                "other-account", .policy, "the login is for \(name.printable), not for this account",
                hint: "a login that you did not start may be somebody else's")
        case .otherServer(let server, let enrolled):
            Explanation(
                "other-server", .policy, "\(enrolled.printable) names another server: \(server.printable)",
                hint: "nothing was sent there; ask who runs the server")
        case .passphraseNeeded(let question):
            Explanation(
                "answer-needed", .authentication, "the server asks: \(PushRequest.shown(question, limit: 200))",
                hint: "give the answer with --answer-stdin, --answer-fd N or YKIT_CONTAINER_ANSWER")
        case .wrongKey(let name):
            Explanation("other-key", .authentication, "this is not the key of '\(name.printable)'")
        case .random: Explanation("random", .failed, "the system gave no random bytes")
        default: Explanation("failed", .failed, "\(error)")
        }
    }

    /// Why a TiQR service refused the login; `nil` if it succeeded.
    package static func tiqr(_ result: TiQRResult) -> Explanation? {
        switch result {
        case .accepted: return nil
        case .wrong(let left):
            var explanation = Explanation(
                "wrong-response", .authentication,
                "the service refused the response" + (left.map { ", \(Tries.areLeft($0))" } ?? ""),
                hint: "the account may have been enrolled again elsewhere; enrol it again here")
            explanation.retriesLeft = left
            return explanation
        case .unknownChallenge:
            return Explanation(
                "expired", .timeOut, "the login is no longer open: it expired, or was answered already",
                hint: "start the login again")
        case .unknownIdentity:
            return Explanation(
                "unknown-user", .notFound, "the service does not know this account",
                hint: "it was deleted there; enrol again")
        case .blocked(let duration):
            let minutes = duration.map { " for \($0.components.seconds / 60) minutes" } ?? ""
            return Explanation("locked", .blocked, "the service locked the account" + minutes)
        case .other(let text):
            return Explanation("failed", .failed, "the service answered \(text.printable)")
        }
    }

    /// Explains an error of a container's server (privacyIDEA, errors 3000 to 3002).
    package static func container(_ code: Int, _ words: String) -> Explanation {
        switch code {
        case 3001:
            Explanation(
                "not-registered", .notFound, words,
                hint: "the container was left or deleted there; register the key again")
        case 3002:
            Explanation(
                "container-signature", .authentication, words,
                hint: "the answer to its question is wrong, the link was used, or the container moved to another key")
        default:
            Explanation(
                "container-refused", .policy, words,
                hint: "the container is registered already, or the server forbids this")
        }
    }
}
