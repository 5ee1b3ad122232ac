// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKTransport
import YKWire

extension OpenRequest {
    /// The lines of a dialog.
    func lines(at now: Int64) -> [String] {
        var rows = [
            ["account", "\(account.account.name.printable) (\(account.account.serial))"],
            ["server", account.account.server.printable + issuer],
        ]
        if let numbers = request.numbers { rows.append(["numbers", numbers.joined(separator: "  ").printable]) }
        rows.append(["seen", Self.age(now - seen)])
        rows.append(["id", request.nonce])
        let title = PushRequest.shown(request.title, limit: 128)
        return (title.isEmpty ? [] : [title]) + [PushRequest.shown(request.question, limit: 512)]
            + Table.details(rows, indent: "  ")
    }

    private var issuer: String {
        account.account.issuer.isEmpty ? "" : ", " + PushRequest.shown(account.account.issuer, limit: 64)
    }

    /// The row of a table.
    func row(at now: Int64) -> [String] {
        [
            request.id, account.account.name.printable, PushRequest.shown(request.question, limit: 60),
            PushRequest.shown(request.title, limit: 30), account.account.server.printable, Self.age(now - seen),
        ]
    }

    private static func age(_ seconds: Int64) -> String {
        switch seconds {
        case ..<2: "just now"
        case ..<120: "\(seconds) s ago"
        default: "\(seconds / 60) min ago"
        }
    }
}

/// An open request, for programs.
struct ReportedRequest: Report {
    let open: OpenRequest
    /// The maximum length of the server's texts, which are then made printable; `nil` for the texts as received.
    var textLimit: Int?

    static let members: [Member<ReportedRequest>] =
        content + time("received", "when it was first seen here") { $0.open.seen } + state

    private static let content: [Member<ReportedRequest>] = [
        Member("id") { $0.open.request.nonce },
        Member("account", "its name") { $0.open.account.account.name },
        Member("accountId") { $0.open.account.account.id },
        Member("server") { $0.open.account.account.server },
        Member("title") { $0.text($0.open.request.title) },
        Member("question") { $0.text($0.open.request.question) },
        Member("numbers", "one of them is on the login page") { $0.open.request.numbers },
    ]

    private static let state: [Member<ReportedRequest>] = [
        Member("verified") { _ in true },
        Member("poll", "whether it was polled, not delivered") { $0.open.isPolled },
        Member("takesReason", "whether a reason for declining is sent") { $0.open.request.takesReason },
    ]

    private func text(_ received: String) -> String {
        textLimit.map { PushRequest.shown(received, limit: $0) } ?? received
    }
}

/// A session of a verb, with its messages on the terminal.
struct PendingRequests {
    let run: Run
    private(set) var session: ApprovalSession<ApproveKeys>

    var accounts: AccountStore { session.accounts }
    var open: [OpenRequest] { session.open }

    init(_ run: Run, _ path: ApproveStoreOptions, _ options: ApproveKeyOptions) throws {
        self.run = run
        let accounts = try path.accounts(run)
        session = try ApprovalSession(
            accounts, ApproveKeys(run, accounts, options), run.approver(), accounts.history
        ) { news in
            switch news.notice {
            case .warning(let warning): run.terminal.warn(warning)
            case .note(let words): run.terminal.note(words)
            }
        }
    }

    /// Fetches the open requests of the named account, or of all.
    mutating func fetch(_ query: EntryQuery?) async throws {
        try await session.fetch(try accounts.asked(query, run)) { [run] in run.isEnded(by: $0) }
    }

    /// Returns the request for at least eight characters of an identifier, or the only request if there is no
    /// identifier; the user chooses among several.
    func one(_ id: String?) throws -> OpenRequest {
        if let id, id.utf8.count < 8 { throw Explanation.usage("an identifier must have eight characters or more") }
        let found = try session.requests(id)
        if let only = found.first, found.count == 1 { return only }
        let failure = Explanation(
            "several-requests", .severalDevices, "\(found.count) requests are open; choose one",
            candidates: found.map {
                "\($0.request.id)  \($0.account.account.name.printable)  \(PushRequest.shown($0.request.question, limit: 60))"
            })
        return found[try run.choose("which request?", among: failure.candidates.map(\.line), orElse: failure)]
    }

    /// Ends a plan after the polls, and after an answer if there is one.
    ///
    /// - Parameter answer: Returns the text to sign in answer to a request to the account with a serial number.
    func endPlan(_ query: EntryQuery?, answer: ((String) -> String)? = nil) throws {
        for account in try accounts.asked(query, run) {
            let serial = account.account.serial
            run.describe(
                "sign '\(PushText.poll(serial: serial, timestamp: UTCDate.timestamp(run.now)))'",
                ["with the key of account '\(account.account.name)'", "then ask \(account.url)"])
        }
        guard let answer else { return try run.endPlan(nil) }
        let serial = try accounts.asked(query, run).first?.account.serial ?? ""
        try run.endPlan("sign '\(answer(serial))'", ["then send it to the server"])
    }
}

extension ApprovalNews {
    fileprivate enum Notice {
        case warning(Warning)
        case note(String)
    }

    /// What the user is told.
    fileprivate var notice: Notice {
        switch self {
        case .clock(let behind):
            let seconds = behind.components.seconds
            let words = seconds > 0 ? "behind" : "ahead of"
            return .warning(
                Warning("clock", "this clock is \(seconds.magnitude) s \(words) the server's; 'timedatectl' shows why"))
        case .unverified(let fault, let account):
            return .warning(
                Warning(Explanation(fault)) { "account '\(account.account.name.printable)': \($0); it is not shown" })
        case .notAsked(let account, let error):
            return .warning(
                Warning(Explanation(error)) { "account '\(account.account.name.printable)' could not be polled: \($0)" }
            )
        case .answered(let request): return .note("request \(request.id) was already answered here")
        case .notRecorded(let error):
            return .warning(
                Warning(Explanation(error)) { "the answer was not recorded in the history: \($0)" })
        }
    }
}

/// The account whose requests are fetched.
struct OpenRequestOptions: ParsableArguments {
    @Option("--account", help: "Only this account.") var account: EntryQuery?

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    /// Fetches the open requests.
    func fetch(_ run: Run) async throws -> PendingRequests {
        var desk = try PendingRequests(run, path, key)
        try desk.endPlan(account)
        try await desk.fetch(account)
        return desk
    }
}

/// Lists open requests.
struct ApproveList: AccountKeyVerb {
    static let about = About(
        "List the open requests; each account requires a signature.",
        examples: [Example("ykit approve list")])
    static let answer = Shape(Item<[ReportedRequest]>("requests"))

    @OptionGroup var asked: OpenRequestOptions

    func run(in run: Run) async throws -> Outcome<[ReportedRequest]> {
        let desk = try await asked.fetch(run)
        let now = run.now
        if desk.open.isEmpty { run.terminal.note("no request is open") }
        return Outcome(
            desk.open.map { ReportedRequest(open: $0) },
            Table.lines(desk.open.map { $0.row(at: now) }))
    }
}

/// Shows a request.
struct ApproveShow: AccountKeyVerb {
    static let about = About(
        "Show an open request in full.",
        examples: [Example("ykit approve show")])
    static let answer = Shape(Item<ReportedRequest>("request"))

    @Argument("id", help: "The request: at least eight characters of its identifier (default: the only open request).")
    var id: String?

    @OptionGroup var asked: OpenRequestOptions

    func run(in run: Run) async throws -> Outcome<ReportedRequest> {
        let desk = try await asked.fetch(run)
        let open = try desk.one(id)
        return Outcome(ReportedRequest(open: open), open.lines(at: run.now))
    }
}
