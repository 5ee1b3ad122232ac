// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKApproval
import YKPIV
import YKStore
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

    /// The JSON form.
    var json: JSONValue {
        [
            "id": .string(request.nonce), "account": .string(account.account.name),
            "accountId": .string(account.account.id), "server": .string(account.account.server),
            "title": .string(request.title), "question": .string(request.question),
            "numbers": request.numbers.map { .array($0.map(JSONValue.string)) } ?? .null, "received": .int(seen),
            "expires": nil, "verified": true, "poll": .bool(isPolled), "takesReason": .bool(request.takesReason),
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

/// A session of a verb, with its messages on the terminal.
struct RequestDesk {
    let world: World
    private(set) var session: ApprovalSession<ApproveKeys>

    var accounts: AccountStore { session.accounts }
    var open: [OpenRequest] { session.open }

    init(_ world: World, _ path: ApproveStoreOptions, _ options: ApproveKeyOptions) throws {
        self.world = world
        let accounts = try path.accounts(world)
        session = try ApprovalSession(
            accounts, ApproveKeys(world, accounts, options), world.approver(), accounts.history
        ) { news in
            let (words, isWarning) = news.words
            if isWarning { world.terminal.warn(words) } else { world.terminal.note(words) }
        }
    }

    /// Fetches the open requests of the named account, or of all.
    mutating func fetch(_ query: String?) async throws {
        try await session.fetch(try accounts.asked(query, world)) { error in
            Interruption.happened || Explain.explain(error).exit == .interrupted
        }
    }

    /// Returns the request for at least eight characters of an identifier, or the only request if there is no
    /// identifier; the user chooses among several.
    func one(_ id: String?) throws -> OpenRequest {
        if let id, id.utf8.count < 8 { throw Explanation.usage("an identifier has eight characters or more") }
        let found = try session.requests(id)
        if let only = found.first, found.count == 1 { return only }
        let failure = Explanation(
            "several-requests", .severalDevices, "\(found.count) requests are open, name one",
            candidates: found.map {
                "\($0.request.id)  \($0.account.account.name.printable)  \(PushRequest.shown($0.request.question, limit: 60))"
            })
        return found[try world.choose("which request?", among: failure.candidates, orElse: failure)]
    }

    /// Adds a poll to a plan.
    func plan(_ query: String?) throws -> Bool {
        guard let plan = world.plan else { return false }
        for account in try accounts.asked(query, world) {
            let serial = account.account.serial
            plan.add(
                "sign '\(PushText.poll(serial: serial, timestamp: UTCDate.timestamp(world.now)))'",
                ["with the key of account '\(account.account.name)'", "then ask \(account.url)"])
        }
        return true
    }
}

extension ApprovalNews {
    /// The words for people, and whether they are a warning.
    var words: (String, isWarning: Bool) {
        switch self {
        case .clock(let behind):
            let seconds = behind.components.seconds
            let words = seconds > 0 ? "behind" : "ahead of"
            return ("this clock is \(seconds.magnitude) s \(words) the server's; 'timedatectl' shows why", true)
        case .unverified(let fault, let account):
            return (
                "account '\(account.account.name.printable)': \(Explain.request(fault).message); it is not shown", true
            )
        case .notAsked(let account, let error):
            return (
                "account '\(account.account.name.printable)' was not asked: \(Explain.explain(error).message)", true
            )
        case .answered(let request): return ("request \(request.id) was answered here already", false)
        case .notRecorded(let error):
            return ("the answer is not in the history: \(Explain.explain(error).message)", true)
        }
    }
}

/// Whose requests are asked for.
struct OpenRequestOptions: ParsableArguments {
    @Option("--account", help: "Only this account.") var account: String?

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    /// Fetches the open requests; `nil` with `--plan`.
    func fetch(_ world: World) async throws -> RequestDesk? {
        var desk = try RequestDesk(world, path, key)
        if try desk.plan(account) { return nil }
        try await desk.fetch(account)
        return desk
    }
}

/// Lists open requests.
struct ApproveList: AccountKeyVerb {
    static let about = About(
        "list", "List the requests that are open; each account costs a signature.", members: ["requests"])

    @OptionGroup var asked: OpenRequestOptions

    func answer(in world: World) async throws -> Answer {
        guard let desk = try await asked.fetch(world) else { return Answer() }
        let now = world.now
        if desk.open.isEmpty { world.terminal.note("no request is open") }
        return Answer(
            Table.lines(desk.open.map { $0.row(at: now) }), ["requests": .array(desk.open.map(\.json))])
    }
}

/// Shows a request.
struct ApproveShow: AccountKeyVerb {
    static let about = About("show", "Show an open request in full.", members: ["request"])

    @Argument("id", help: "The request: at least eight characters of its identifier (default: the only open request).")
    var id: String?

    @OptionGroup var asked: OpenRequestOptions

    func answer(in world: World) async throws -> Answer {
        guard let desk = try await asked.fetch(world) else { return Answer() }
        let request = try desk.one(id)
        return Answer(request.lines(at: world.now), ["request": request.json])
    }
}
