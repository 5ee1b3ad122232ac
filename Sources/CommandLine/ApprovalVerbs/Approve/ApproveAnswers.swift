// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKPIV

/// An answer that the server received.
struct GivenAnswer: Report {
    let open: OpenRequest
    let receipt: PushReceipt
    let decision: String

    static let members: [Member<GivenAnswer>] = [
        Member("id") { $0.open.request.nonce },
        Member("account", "its name") { $0.open.account.account.name },
        Member("decision", "approved, declined or cancelled") { $0.decision },
        Member("accepted") { $0.receipt.isAccepted },
        Member("displayCode", "the code to type into the login page") { $0.receipt.displayCode },
        Member("message", "the server's message for the user") { $0.receipt.message },
    ]

    var outcome: Outcome<GivenAnswer> {
        var lines = ["\(decision) for '\(open.account.account.name.printable)'"]
        if let code = receipt.displayCode.map({ PushRequest.shown($0, limit: 32) }) {
            let message = receipt.message.map { PushRequest.shown($0, limit: 200) }
            lines.append("\(message ?? "type this code into the login page"): \(code)")
        }
        return Outcome(self, lines)
    }
}

/// Approves a request.
struct ApproveYes: AccountKeyVerb {
    static let about = About(
        "Approve a request, after showing it.",
        discussion: """
            Without ID, exactly one request must be open. The request is shown first; it is then approved by the touch \
            if the key requires one each time, by the PIN or fingerprint and a touch of FIDO2 if the account was \
            enrolled with --require uv, and otherwise by answering 'Approve? [y/N]'. With the full identifier, as in \
            'list --json', there is no question, so that a program can approve what it has shown to a user.
            """,
        examples: [Example("ykit approve yes")])

    @Argument("id", help: "The request: at least eight characters of its identifier (default: the only open request).")
    var id: String?

    @Option("--number", help: "The number that the login page shows.") var number: String?

    @Option("--account", help: "Only this account.") var account: EntryQuery?

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    /// The maximum number of wrong numbers; the server itself has no limit.
    private static let tries = 2

    func run(in run: Run) async throws -> Outcome<GivenAnswer> {
        var desk = try PendingRequests(run, path, key)
        try desk.endPlan(account) { serial in PushText.approval(of: id ?? "NONCE", serial: serial, number: number) }
        try await desk.fetch(account)
        let open = try desk.one(id)
        for line in open.lines(at: run.now) { run.terminal.say(line) }
        var wrong = desk.session.history.events.count { $0.nonce == open.request.nonce && $0.isAccepted == false }
        while true {
            guard wrong < Self.tries else { return try await giveUp(open, desk, run) }
            let number = try chosenNumber(open, isAgain: wrong > 0, run)
            try ask(open, run)
            let receipt = try await desk.session.approve(open, number: number)
            if receipt.isAccepted { return GivenAnswer(open: open, receipt: receipt, decision: "approved").outcome }
            let refusal = try await desk.session.cause(ofRefusing: open, hadNumber: number != nil)
            guard refusal == .wrongNumber, self.number == nil else { throw refusal.explanation }
            wrong += 1
            run.terminal.warn(Warning(refusal.explanation))
        }
    }

    private func chosenNumber(_ open: OpenRequest, isAgain: Bool, _ run: Run) throws -> String? {
        guard let numbers = open.request.numbers else {
            guard number == nil else { throw ApprovalError.numberNotOffered(number ?? "", offered: []) }
            return nil
        }
        if let number {
            guard numbers.contains(number) else { throw ApprovalError.numberNotOffered(number, offered: numbers) }
            return number
        }
        guard run.hasPerson else { throw ApprovalError.numberNeeded(numbers) }
        let question =
            isAgain ? "look again: which number does the login page show?" : "which number does the login page show?"
        return numbers[try run.terminal.pick(question, among: numbers.map(\.printable))]
    }

    /// Asks for consent unless a touch provides it. A cached touch does not count, since it may have been made for the
    /// poll.
    private func ask(_ open: OpenRequest, _ run: Run) throws {
        if id?.uppercased() == open.request.nonce { return }
        if case .piv(let place) = open.account.place, place.policies.touch == .always { return }
        if open.account.proof != nil { return }
        let hint = "give the full identifier of the request: \(open.request.nonce)"
        guard try run.isAgreed("Approve?", orElse: hint) else {
            throw Explanation(
                "declined", .declined, "nothing was signed; the request is still open",
                hint: "decline it with: ykit approve no \(open.request.id)")
        }
    }

    private func giveUp(_ open: OpenRequest, _ desk: PendingRequests, _ run: Run) async throws -> Outcome<GivenAnswer> {
        let message = "the number was wrong \(Self.tries) times; the request can no longer be approved"
        do {
            try run.confirm("\(message). Decline it, as not started by you?", unless: false)
        } catch {
            throw Explanation(
                "too-many-numbers", .blocked, message,
                hint: "if you did not start this login: ykit approve no \(open.request.id) --fraud")
        }
        let receipt = try await desk.session.decline(open, .unknownTrigger)
        return GivenAnswer(open: open, receipt: receipt, decision: "declined").outcome
    }
}

/// Declines a request.
struct ApproveNo: AccountKeyVerb {
    static let about = About(
        "Decline a request.",
        discussion: """
            --fraud reports to the server that someone else started the login, --cancelled that you started it and no \
            longer want it. The reason is sent only if the server has signed that it accepts one.
            """,
        examples: [Example("ykit approve no")])

    @Argument("id", help: "The request: at least eight characters of its identifier (default: the only open request).")
    var id: String?

    @Flag("--fraud", help: "You did not start this login.") var fraud = false

    @Flag("--cancelled", help: "You started this login and no longer want it.") var cancelled = false

    @Option("--account", help: "Only this account.") var account: EntryQuery?

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func check() throws {
        if fraud, cancelled { throw UsageError("--fraud and --cancelled cannot be combined") }
    }

    func run(in run: Run) async throws -> Outcome<GivenAnswer> {
        var desk = try PendingRequests(run, path, key)
        let reason: DeclineReason? = fraud ? .unknownTrigger : cancelled ? .cancelled : nil
        try desk.endPlan(account) { serial in PushText.decline(of: id ?? "NONCE", serial: serial, reason) }
        try await desk.fetch(account)
        let open = try desk.one(id)
        for line in open.lines(at: run.now) { run.terminal.say(line) }
        if reason != nil, !open.request.takesReason {
            run.terminal.warn("reason-not-sent", "the server accepts no reason; the request is declined without one")
        }
        let decision = cancelled ? "cancelled" : "declined"
        let receipt = try await desk.session.decline(open, reason, as: decision)
        guard receipt.isAccepted else {
            throw try await desk.session.cause(ofRefusing: open, hadNumber: false).explanation
        }
        return GivenAnswer(open: open, receipt: receipt, decision: decision).outcome
    }
}

extension PushRefusal {
    /// Why the server did not accept an answer.
    var explanation: Explanation {
        switch self {
        case .closed:
            Explanation(
                "request-closed", .timeOut, "the server did not accept the answer: the request is no longer open",
                hint: "it has expired, or was already answered, perhaps on another device; start the login again")
        case .wrongNumber:
            Explanation(
                "wrong-number", .authentication, "the server did not accept the answer: the number is wrong",
                hint: "look at the login page again; 'ykit approve no ID --fraud' if you did not start this")
        case .stillOpen:
            Explanation(
                "not-accepted", .authentication,
                "the server did not accept the answer, though the request is still open",
                hint: "the server may have a different key for this account; enroll it again")
        case .unknown:
            Explanation(
                "not-accepted", .authentication,
                "the server did not accept the answer: the request has expired, was already answered, or the number is wrong",
                hint: "'ykit approve list' shows whether it is still open")
        }
    }
}
