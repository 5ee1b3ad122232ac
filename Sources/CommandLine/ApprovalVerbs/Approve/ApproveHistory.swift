// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKWire

/// An answer in the history.
struct HistoryEntry: Report {
    let event: ApprovalEvent

    static let members: [Member<HistoryEntry>] =
        time("time", "of the answer") { $0.event.time } + [
            Member("accountId") { $0.event.account },
            Member("decision", "approved, declined or cancelled, or another word for other types of account") {
                $0.event.decision
            },
            Member("accepted", "null without a receipt") { $0.event.isAccepted },
            Member("challenge", "as it came") { $0.event.challenge },
            Member("text", "that the account's key signed") { $0.event.signedText },
            Member("signature", "as it was sent") { $0.event.signature },
        ]
}

/// Shows the answers given so far.
struct ApproveHistoryVerb: Verb {
    static let uses: GlobalUse = [.replay, .record]
    static let about = About(
        "Show what was approved or declined, here or in the server's log.",
        discussion: """
            The history file next to the store records each request as received, the answer, and both signatures; each \
            line contains the hash of the previous one, so that changes and gaps are detected. Lines are kept for 90 \
            days. --server shows the server's log of one account instead, after signing in as --user.
            """,
        examples: [Example("ykit approve history --limit 10")])
    typealias Reported = (events: [HistoryEntry]?, log: [JSONValue]?, isIntact: Bool?, file: HistoryFile?)
    static let answer = Shape<Reported>(
        Member("events", "null with --server") { $0.events },
        Member("log", "with --server: the entries of the server's log") { $0.log },
        Member("intact", "null with --server") { $0.isIntact },
        Member("file", "null with --server") { $0.file?.path })

    @Argument("account", help: "The account: its name, serial number or server, or part of one.")
    var account: EntryQuery?

    @Flag("--server", help: "Show the server's log.") var server = false

    @OptionGroup var person: ApproveUserOptions

    @Option("--limit", help: "The maximum number of entries.") var limit = 50

    @OptionGroup var path: ApproveStoreOptions

    func check() throws {
        if server != (person.user != nil) { throw UsageError("--server and --user must be given together") }
        if !(1...1000).contains(limit) { throw UsageError("--limit must be 1 to 1000") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        if server { return try await serverLog(try book.onePush(account, run), run) }
        let wanted = try account.map { try book.one($0, run).id }
        let history = try book.history.read()
        let events = history.events.filter { wanted == nil || $0.account == wanted }.suffix(limit)
        let names = Dictionary(book.accounts.map { ($0.id, $0.name) }) { first, _ in first }
        let rows = events.map { event in
            [
                UTCDate.timestamp(event.time),
                event.decision.printable + Self.outcome(event.isAccepted),
                (names[event.account] ?? event.account).printable,
                PushRequest.shown(event.challenge["question"]?.string ?? "", limit: 60),
            ]
        }
        var isIntact = true
        if let line = history.fault {
            isIntact = false
            run.terminal.warn(
                "history-changed",
                "line \(line) of \(book.history.path.printable) does not follow from the one before it")
        } else if book.history.isCut(history, book.content) {
            isIntact = false
            run.terminal.warn(
                "history-changed", "\(book.history.path.printable) does not end with the last recorded answer")
        }
        return Outcome(
            (events: events.map(HistoryEntry.init), log: nil, isIntact: isIntact, file: book.history),
            Table.lines(rows))
    }

    private static func outcome(_ isAccepted: Bool?) -> String {
        switch isAccepted {
        case true: ""
        case false: ", not accepted"
        default: ", without a receipt"
        }
    }

    private func serverLog(_ account: PushAccount, _ run: Run) async throws -> Outcome<Reported> {
        guard let base = account.base, let user = person.user else {
            throw Explanation.malformed("the account's address is not below a server's /ttype/")
        }
        try run.endPlan("sign in as \(user) at \(base) and read the log of \(account.account.serial)")
        let approver = try run.approver()
        let password = try person.password(run)
        let entries = try await run.showing("reading the log at \(base)") {
            let client = try await approver.signIn(base, user: user, password, trust: account.trust)
            return try await approver.log(of: account.account.serial, limit: limit, client)
        }
        let rows = entries.map { entry in
            ["date", "action", "authentication", "action_detail"].map { name in
                PushRequest.shown(entry[name]?.string ?? "", limit: 80)
            }
        }
        return Outcome((events: nil, log: entries, isIntact: nil, file: nil), Table.lines(rows))
    }
}
