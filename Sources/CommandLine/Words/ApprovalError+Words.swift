// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKApproval
import YKFIDO
import YKHTTP
import YKOATH
import YKPIV

extension ApprovalError: Explained {
    package var explanation: Explanation {
        switch self {
        case .server(let error): error.explanation
        case .noReceipt(let error, _, _):
            unreceived(error.explanation)
        case .malformed(let reason): .malformed(reason.printable)
        case .unsupportedVersion(let version):
            Explanation("not-supported", .notSupported, "the link is of version \(version.printable), 1 is supported")
        case .unsupportedKey(let kind):
            Explanation(
                "unsupported-key", .notSupported, "\(kind.printable): the server accepts RSA keys only",
                hint: "choose rsa2048, rsa3072 or rsa4096")
        case .enrolmentRefused(let message):
            Explanation(
                "enrolment-refused", .authentication, "the server refused the enrolment: \(message.printable)",
                hint: "the link was used already, has expired or is not this server's; ask for a new one")
        case .request(let fault): fault.explanation
        case .numberNeeded(let numbers):
            Explanation(
                "number-needed", .usage, "the request wants the number that the login page shows",
                hint: "give it with --number N", candidates: numbers)
        case .numberNotOffered(let number, let offered):
            Explanation(
                "number-not-offered", .usage,
                offered.isEmpty
                    ? "the request wants no number"
                    : "the request does not offer the number \(number.printable); nothing was signed",
                candidates: offered)
        case .pollRefused:
            Explanation(
                "poll-refused", .authentication, "the server refused the account's signature",
                hint: "the account may have been deleted there: ask who runs the server, or enrol again")
        case .clock(let behind): wrongClock(behind.components.seconds)
        case .noAccounts, .noSuchAccount, .accountExists, .tooManyAccounts, .noRequest, .alreadyAnswered:
            aboutAccount
        default: aboutKey
        }
    }

    private var aboutAccount: Explanation {
        switch self {
        case .noAccounts:
            Explanation(
                "no-such-account", .notFound, "the store has no accounts",
                hint: "'ykit approve enroll' and 'ykit approve open' add one")
        case .noSuchAccount(let query):
            Explanation(
                "no-such-account", .notFound,
                query.map { "no account matches '\($0.printable)'" } ?? "the store has no account for this",
                hint: "'ykit approve accounts' lists them, 'ykit approve enroll' adds one")
        case .accountExists(let id):
            Explanation(
                "exists", .policy, "the store has account \(id.printable) already", hint: "ykit approve accounts")
        case .tooManyAccounts(let limit):
            Explanation("too-many", .policy, "the store holds \(limit) accounts, which is the most")
        case .alreadyAnswered: Explanation("answered", .notFound, "this request was answered here already")
        case .noRequest(let id):
            Explanation(
                "no-request", .notFound, id == nil ? "no request is open" : "no such request is open",
                hint: "requests expire, most after two minutes; 'ykit approve list' shows those that are open")
        default: aboutKey
        }
    }

    private func wrongClock(_ seconds: Int64) -> Explanation {
        let words = seconds >= 0 ? "\(seconds) s behind" : "\(seconds.magnitude) s ahead of"
        return Explanation(
            "clock", .malformed, "the server refuses the time of the request: this clock is \(words) the server's",
            hint: "set the clock; 'timedatectl' shows whether it is synchronized")
    }

    private var aboutKey: Explanation {
        switch self {
        case .noFreeSlot:
            Explanation(
                "no-free-slot", .failed, "none of the slots \(PIVSlot.retiredWords) is free, as far as the key tells",
                hint: "name a free one with --slot, or delete an account: ykit approve logout ACCOUNT")
        case .otherKey(let slot):
            Explanation(
                "other-key", .authentication, "slot \(slot) does not hold the key of this account",
                hint: "it was replaced, or another security key is meant; 'ykit approve accounts' tells which")
        case .policyNotApplied(let slot, let policies):
            Explanation(
                "not-applied", .failed, "the key made its key in slot \(slot) with other policies: \(policies)",
                hint: "name policies that this firmware has, with --touch and --pin-policy")
        case .possession:
            Explanation("possession", .failed, "a signature of the account's key does not verify; nothing was sent")
        case .cannotVerifyUser:
            Explanation(
                "no-user-verification", .notSupported, "the key has neither a FIDO2 PIN nor a fingerprint",
                hint: "set a PIN first: ykit fido2 pin set")
        case .unproven(let reason):
            Explanation(
                "not-proven", .authentication, "presence is not proved, nothing was signed: \(reason.printable)")
        case .fido(.noCredentials):
            Explanation(
                "other-key", .authentication, "this key does not have the credential that the account requires",
                hint: "plug in the key that was enrolled; if its FIDO2 application was reset, enrol again")
        case .fido(let error): error.explanation
        case .key(let error): error.explanation
        case .crypto(let fault): fault.explanation
        case .store(let error): error.explanation
        default: aboutCode
        }
    }

    /// Explains a missing receipt from the server for an answer.
    private func unreceived(_ failure: Explanation) -> Explanation {
        var explanation = failure
        explanation.hint =
            "the server may have the answer all the same: 'ykit approve list' shows whether the request is still open"
        return explanation
    }

    /// Explains errors about links, TiQR logins and containers.
    private var aboutCode: Explanation {
        switch self {
        case .link(let error):
            .malformed("the link cannot be read: \(error)", hint: "ask for a new one")
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
        case .random: .random
        default: Explanation("failed", .failed, "\(self)")
        }
    }
}

extension PushRequestFault: Explained {
    /// Explains why a request is not shown.
    package var explanation: Explanation {
        switch self {
        case .malformed(let member): .malformed("a request cannot be read: \(member.printable)")
        case .signature:
            Explanation(
                "server-signature", .malformed, "a request is not signed by the server that was enrolled",
                hint: "someone may be sending requests in its name; nothing of it is shown, and nothing was signed")
        case .otherSerial(let serial):
            Explanation(
                "other-serial", .malformed, "a request is for the account \(serial.printable), not for this one")
        case .otherServer(let url):
            Explanation(
                "other-server", .malformed,
                "a request says that it comes from \(url.printable), not from the enrolled server",
                hint: "the server has moved, or somebody forwards its requests; ask who runs it")
        }
    }
}

extension TiQRResult {
    /// Why a TiQR service refused the login; `nil` if it succeeded.
    package var explanation: Explanation? {
        switch self {
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
}
