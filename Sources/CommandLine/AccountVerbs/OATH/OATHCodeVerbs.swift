// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import Glibc
import TerminalIO
import Verbs
import YKOATH
import YKWire

/// The accounts of a key.
struct AccountList: Report {
    let accounts: [ListedAccount]
    var time: Int64?

    static let members: [Member<AccountList>] = [
        Member("accounts") { $0.accounts },
        Member("time", "the time of the codes") { $0.time },
    ]

    init(_ accounts: [OATHAccount]) { self.accounts = accounts.map { ListedAccount(account: $0) } }

    init(_ entries: [OATHEntry], at time: Int64) {
        accounts = entries.map { ListedAccount(account: $0.account, code: $0.outcome) }
        self.time = time
    }
}

/// An account, with its code if codes are calculated.
struct ListedAccount: Report {
    let account: OATHAccount
    var code: OATHEntry.Outcome?

    static let members: [Member<ListedAccount>] = including { $0.account } + including(ifKnown: { $0.code })
}

extension OATHEntry: Report {
    static let members: [Member<OATHEntry>] = including { $0.account } + including { $0.outcome }

    /// The code, or the reason for its absence in brackets.
    var text: String {
        switch outcome {
        case .code(let code): code.text
        case .needsTouch: "[touch]"
        case .hotp: "[counter]"
        case .separate: ""
        case .failed: "[failed]"
        }
    }
}

extension OATHEntry.Outcome: Report {
    static let members: [Member<OATHEntry.Outcome>] = [
        Member("code") { $0.found?.text },
        Member("validFrom") { $0.found?.validFrom },
        Member("validTo", "the first second after it") { $0.found?.validTo },
        Member("error", "why no code could be calculated for this account") { $0.error },
    ]

    private var found: OATHCode? { if case .code(let code) = self { code } else { nil } }

    private var error: Explanation? { if case .failed(let error) = self { Explanation(error) } else { nil } }
}

/// Lists accounts.
struct OATHList: Verb {
    static let about = About(
        "List accounts.",
        discussion: "With --watch the codes are shown with a countdown until ^C ends it.",
        examples: [Example("ykit oath list")])

    @Flag(["--long", "-l"], help: "Show type, algorithm and period.") var long = false

    // Hidden: 'ykit oath calculate' shows codes.
    @Flag("--codes") var codes = false

    @Flag(["--watch", "-w"], help: "Show codes and keep them up to date.") var watch = false

    @Flag("--show-hidden", help: "Also show accounts of the issuer _hidden.") var showHidden = false

    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<AccountList> {
        let service = try await run.oath(password)
        if watch { try await CodeWatch(run: run, service: service, showHidden: showHidden).run() }
        if codes {
            return try await CodeTable(run: run, showHidden: showHidden).outcome(from: service) {
                AccountList($0, at: $1)
            }
        }
        let all = try await service.accounts()
        await run.remember(all.map(\.id), of: service)
        let accounts = all.filter { showHidden || !$0.id.isHidden }
        let lines =
            long
            ? Table.lines(accounts.map(Self.row)) : accounts.map { $0.id.displayName(among: accounts.map(\.id)) }
        if accounts.isEmpty { run.terminal.note(Self.none) }
        return Outcome(AccountList(accounts), lines)
    }

    /// Shown to people in place of an empty list.
    static let none = "no accounts yet; add one with: ykit oath add NAME"

    private static func row(_ account: OATHAccount) -> [String] {
        [
            account.id.text.printable, account.type.description, account.algorithm?.description ?? "?",
            account.type == .totp ? "\(account.id.period.components.seconds) s" : "",
        ]
    }
}

/// Calculates codes.
struct OATHCalculate: Verb {
    static let about = About(
        "Show the codes of all accounts, or of the one that matches a query.",
        discussion: """
            A query is a full name or part of one; case is ignored. With a query only the code is printed; a \
            counter-based account advances, and an account that requires a touch waits for it.
            """,
        examples: [
            Example("ykit oath calculate github"),
            Example("ykit oath code github --single", "Print only the code, for scripts."),
        ])
    typealias Reported = (accounts: [OATHEntry], code: OATHCode?, time: Int64)
    static let answer = Shape<Reported>(
        Member("accounts") { $0.accounts }, Member("code", "of the requested account") { $0.code?.text },
        Member("time", "the time of the codes") { $0.time })

    @Argument(
        "query", help: "The account: its name or part of it; 60/NAME selects the one with period 60.",
        completion: .accounts)
    var query: EntryQuery?

    @Flag(["--single", "-s"], help: "Print only the code; fail unless there is exactly one account.") var single = false

    @Flag("--show-hidden", help: "Also show accounts of the issuer _hidden.") var showHidden = false

    @Flag(["--clipboard", "-c"], help: "Copy the code to the clipboard, and clear it when the code expires.")
    var clipboard = false

    @Option("--at <seconds>", help: "Calculate codes for this time, in seconds since 1970.") var at: Int64?

    @OptionGroup var password: PasswordOptions

    func check() throws {
        if clipboard, query == nil, !single { throw UsageError("--clipboard needs one account: give its name") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.oath(password)
        guard query != nil || single else {
            return try await CodeTable(run: run, showHidden: showHidden, time: at).outcome(from: service) {
                (accounts: $0, code: nil, time: $1)
            }
        }
        let time = at ?? run.now
        let entries = try await service.codes(at: time, recalculating: false)
        let id = try account(in: entries.map(\.account.id), run)
        guard let entry = entries.first(where: { $0.account.id == id }) else { throw OATHError.noSuchAccount }
        let code = try await code(of: entry, service, run)
        let result = OATHEntry(account: entry.account, outcome: .code(code))
        if clipboard { try copy(code, run) }
        var outcome = Outcome<Reported>(
            (accounts: [result], code: code, time: time),
            clipboard ? [] : [Style.bold.around(code.text)])
        outcome.answer.isMadeOnce = entry.account.type == .hotp && !clipboard
        return outcome
    }

    /// Returns the account of the query, or the only one.
    private func account(in ids: [OATHAccountID], _ run: Run) throws -> OATHAccountID {
        guard single else {
            guard let query else { throw OATHError.noSuchAccount }
            return try run.entry(query, in: ids) { showHidden || !$0.isHidden }
        }
        let listed = ids.filter { showHidden || !$0.isHidden }
        let found = query.map { PartMatch($0.text, in: ids) { showHidden || !$0.isHidden }.all } ?? listed
        guard let only = found.first else {
            throw query.map { OATHAccountID.unknown($0) } ?? OATHError.noSuchAccount
        }
        guard found.count == 1 else {
            throw query.map { OATHAccountID.several($0, found) }
                ?? OATHAccountID.several("the key has \(found.count) accounts", found)
        }
        return only
    }

    private func code(of entry: OATHEntry, _ service: OATHService, _ run: Run) async throws -> OATHCode {
        switch entry.outcome {
        case .code(let code): return code
        case .failed(let error): throw error
        case .hotp, .separate: return try await service.code(for: entry.account.id, at: at)
        case .needsTouch:
            return try await run.touching("calculate a code for \(entry.account.id.text.printable)") {
                try await service.code(for: entry.account.id, at: at)
            }
        }
    }

    private func copy(_ code: OATHCode, _ run: Run) throws {
        let now = run.now
        let seconds = max(1, code.validTo.map { $0 - now } ?? 30)
        try run.stage.copy(code.text, for: seconds)
        run.terminal.notice("the code is on the clipboard for \(seconds) s")
    }
}

/// All codes at a given time.
struct CodeTable {
    let run: Run
    let showHidden: Bool
    var time: Int64?

    /// Returns the lines of the table, and the report built from its entries and time.
    func outcome<Reported>(
        from service: OATHService, _ report: ([OATHEntry], Int64) -> Reported
    ) async throws -> Outcome<Reported> {
        let time = self.time ?? run.now
        let all = try await service.codes(at: time)
        await run.remember(all.map(\.account.id), of: service)
        let entries = all.filter { showHidden || !$0.account.id.isHidden }
        if entries.isEmpty { run.terminal.note(OATHList.none) }
        var outcome = Outcome(
            report(entries, time), Table.lines(entries.map { row($0, at: time, among: entries.map(\.account.id)) }))
        for entry in entries {
            guard case .failed(let error) = entry.outcome else { continue }
            var explanation = Explanation(error)
            if run.options.strict { throw explanation }
            let name = entry.account.id.text.printable
            outcome.answer.warnings.append(Warning(explanation) { "\(name): \($0)" })
            if outcome.answer.failure == nil {
                explanation.message = "no code for '\(name)': \(explanation.message)"
                outcome.answer.failure = explanation
            }
        }
        return outcome
    }

    /// The name and code; on a terminal also the remaining time.
    func row(_ entry: OATHEntry, at time: Int64, among ids: [OATHAccountID]) -> [String] {
        let style: Style = entry.code == nil ? .dim : .bold
        let row = [entry.account.id.displayName(among: ids), style.around(entry.text)]
        guard run.terminal.isOutputTerminal, let end = entry.code?.validTo else { return row }
        let left = max(0, end - time)
        return row + [(left <= 5 ? Style.yellow : .dim).around("\(left) s")]
    }
}

/// A live view of all codes: redrawn every second on a terminal; otherwise one answer each time the codes change. Other
/// programs can use the card in between.
struct CodeWatch {
    let run: Run
    let service: OATHService
    let showHidden: Bool

    /// Runs until ^C.
    func run() async throws -> Never {
        var drawn = 0
        while true {
            let time = run.now
            let entries = try await service.codes(at: time).filter { showHidden || !$0.account.id.isHidden }
            await service.rest()
            let end = max(time + 1, entries.compactMap { $0.code?.validTo }.min() ?? time + 30)
            if run.terminal.isOutputTerminal, !run.options.json {
                try countdown(entries, until: end, &drawn)
            } else {
                report(entries, at: time)
                try run.sleep(until: end)
            }
        }
    }

    private func report(_ entries: [OATHEntry], at time: Int64) {
        if run.options.json {
            run.terminal.line(AccountList(entries, at: time).answer.text)
        } else {
            Table.lines(entries.map { [$0.account.id.displayName(among: entries.map(\.account.id)), $0.text] }).forEach(
                run.terminal.line)
            run.terminal.line("")
        }
    }

    private func countdown(_ entries: [OATHEntry], until end: Int64, _ drawn: inout Int) throws {
        repeat {
            let now = run.now
            if drawn > 0 { run.terminal.redraw("\u{1B}[\(drawn)A\r\u{1B}[J") }
            let table = CodeTable(run: run, showHidden: showHidden)
            let lines = fitting(Table.lines(entries.map { table.row($0, at: now, among: entries.map(\.account.id)) }))
            lines.forEach(run.terminal.line)
            drawn = lines.count
            try run.sleep(until: now + 1)
        } while run.now < end
    }

    /// The lines that fit on the terminal: lines that wrap or scroll away could not be redrawn.
    private func fitting(_ lines: [String]) -> [String] {
        let (columns, most) = (run.terminal.columns, max(1, run.terminal.rows - 2))
        let rest = lines.count > most ? ["… \(lines.count - most) more"] : []
        return lines.prefix(most).map { $0.clipped(to: columns) } + rest
    }
}
