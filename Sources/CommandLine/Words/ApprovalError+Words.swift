// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKApproval
import YKFIDO
import YKPIV

extension ApprovalError: Explained {
    package var explanation: Explanation {
        switch self {
        case .server(let error): error.explanation
        case .noReceipt(let error, _, _):
            unreceived(error.explanation)
        case .malformed(let reason): .malformed(reason.printable)
        case .unsupportedVersion(let version):
            Explanation(
                "not-supported", .notSupported, "the link has version \(version.printable); only version 1 is supported"
            )
        case .unsupportedKey(let kind):
            Explanation(
                "unsupported-key", .notSupported, "\(kind.printable): the server accepts RSA keys only",
                hint: "choose rsa2048, rsa3072 or rsa4096")
        case .enrolmentRefused(let message):
            Explanation(
                "enrolment-refused", .authentication, "the server refused the enrollment: \(message.printable)",
                hint: "the link has been used, has expired, or belongs to another server; ask for a new one")
        case .request(let fault): fault.explanation
        case .numberNeeded(let numbers):
            Explanation(
                "number-needed", .usage, "the request requires the number shown on the login page",
                hint: "give it with --number N", candidates: numbers)
        case .numberNotOffered(let number, let offered):
            Explanation(
                "number-not-offered", .usage,
                offered.isEmpty
                    ? "the request does not require a number"
                    : "the request does not offer the number \(number.printable); nothing was signed",
                candidates: offered)
        case .pollRefused:
            Explanation(
                "poll-refused", .authentication, "the server refused the account's signature",
                hint: "the account may have been deleted there: ask the server's operator, or enroll again")
        case .clock(let behind): wrongClock(behind.components.seconds)
        case .noAccounts:
            Explanation(
                "no-such-account", .notFound, "the store has no accounts",
                hint: "'ykit approve enroll' and 'ykit approve open' add one")
        case .noSuchAccount(let query):
            Explanation(
                "no-such-account", .notFound,
                query.map { "no account matches '\($0.printable)'" } ?? "the store has no matching account",
                hint: "'ykit approve accounts' lists them, 'ykit approve enroll' adds one")
        case .accountExists(let id):
            Explanation(
                "exists", .policy, "account \(id.printable) is already in the store", hint: "ykit approve accounts")
        case .tooManyAccounts(let limit):
            Explanation("too-many", .policy, "the store is full: it holds \(limit) accounts")
        case .alreadyAnswered: Explanation("answered", .notFound, "this request has already been answered here")
        case .noRequest(let id):
            Explanation(
                "no-request", .notFound, id == nil ? "no request is open" : "no such request is open",
                hint: "requests expire, most of them after two minutes; 'ykit approve list' shows the open ones")
        case .noFreeSlot:
            Explanation(
                "no-free-slot", .failed, "the key reports no free slot among \(PIVSlot.retiredWords)",
                hint: "choose a free one with --slot, or delete an account: ykit approve logout ACCOUNT")
        case .otherKey(let slot):
            Explanation(
                "other-key", .authentication, "slot \(slot) does not hold the key of this account",
                hint:
                    "it was replaced, or the account belongs to another security key; 'ykit approve accounts' shows which"
            )
        case .policyNotApplied(let slot, let policies):
            Explanation(
                "not-applied", .failed,
                "the key generated the key pair in slot \(slot) with other policies: \(policies)",
                hint: "choose policies that this firmware supports, with --touch and --pin-policy")
        case .possession:
            Explanation("possession", .failed, "a signature of the account's key does not verify; nothing was sent")
        case .cannotVerifyUser:
            Explanation(
                "no-user-verification", .notSupported, "the key has neither a FIDO2 PIN nor a fingerprint",
                hint: "set a PIN first: ykit fido2 pin set")
        case .unproven(let reason):
            Explanation(
                "not-proven", .authentication, "user presence was not proved; nothing was signed: \(reason.printable)")
        case .fido(.noCredentials):
            Explanation(
                "other-key", .authentication, "this key does not have the credential that the account requires",
                hint: "plug in the key that was enrolled; if its FIDO2 application was reset, enroll again")
        case .fido(let error): error.explanation
        case .key(let error): error.explanation
        case .crypto(let fault): fault.explanation
        case .store(let error): error.explanation
        case .link(let error):
            .malformed("the link cannot be read: \(error)", hint: "ask for a new one")
        case .otherAccount(let name):
            Explanation(
                "other-account", .policy, "the login is for \(name.printable), not for this account",
                hint: "if you did not start it, someone else may be trying to log in")
        case .otherServer(let server, let enrolled):
            Explanation(
                "other-server", .policy, "\(enrolled.printable) names another server: \(server.printable)",
                hint: "nothing was sent there; ask the server's operator")
        case .passphraseNeeded(let question):
            Explanation(
                "answer-needed", .authentication,
                "the server asks a question: \(PushRequest.shown(question, limit: 200))",
                hint: "give the answer with --answer-stdin, --answer-fd N or YKIT_CONTAINER_ANSWER")
        case .wrongKey(let name):
            Explanation("other-key", .authentication, "this is not the key of '\(name.printable)'")
        case .random: .random
        }
    }

    private func wrongClock(_ seconds: Int64) -> Explanation {
        let words = seconds >= 0 ? "\(seconds) s behind" : "\(seconds.magnitude) s ahead of"
        return Explanation(
            "clock", .malformed,
            "the server refuses the time of the request: the clock of this machine is \(words) the server's",
            hint: "set the clock; 'timedatectl' shows whether it is synchronized")
    }

    /// Explains a missing receipt from the server for an answer.
    private func unreceived(_ failure: Explanation) -> Explanation {
        var explanation = failure
        explanation.hint =
            "the server may have received the answer anyway: 'ykit approve list' shows whether the request is still open"
        return explanation
    }
}

extension PushRequestFault: Explained {
    /// Explains why a request is not shown.
    package var explanation: Explanation {
        switch self {
        case .malformed(let member): .malformed("a request cannot be read: \(member.printable)")
        case .signature:
            Explanation(
                "server-signature", .malformed, "a request is not signed by the enrolled server",
                hint: "someone may be sending requests in its name; its contents are not shown, and nothing was signed")
        case .otherSerial(let serial):
            Explanation(
                "other-serial", .malformed, "a request is for the account \(serial.printable), not for this one")
        case .otherServer(let url):
            Explanation(
                "other-server", .malformed,
                "a request claims to come from \(url.printable), not from the enrolled server",
                hint: "the server has moved, or someone forwards its requests; ask its operator")
        }
    }
}
