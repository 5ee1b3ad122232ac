// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKApproval
import YKPIV
import YKStore
import YKWire

/// An open request and its account.
struct OpenRequest {
    let request: PushRequest
    let account: PushAccount
    /// When this computer first saw it, in seconds since 1970.
    let seen: Int64
    let isPolled: Bool

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

/// Fetches the requests of accounts and keeps them for a verb.
struct RequestDesk {
    let world: World
    let book: AccountBook
    let keys: ApproveKeys
    let approver: Approver
    let history: ApprovalHistory
    private(set) var open: [OpenRequest] = []
    /// Why some accounts could not be polled.
    private(set) var failures: [(account: PushAccount, reason: Explanation)] = []

    init(_ world: World, _ path: ApproveStoreOptions, _ options: ApproveKeyOptions) throws {
        self.world = world
        book = try path.book(world)
        keys = ApproveKeys(world, book, options)
        approver = try world.approver()
        history = try book.history.read()
    }

    /// Polls accounts for open requests, and omits those already answered here. Throws the first error if no account
    /// could be polled.
    mutating func fetch(_ query: String?) async throws {
        let accounts = try book.asked(query, world)
        var found: [(PushRequest, PushAccount)] = []
        for account in accounts {
            do {
                let key = try await keys.key(of: account)
                let poll = try await approver.requests(of: account, key)
                tell(poll, account)
                try book.mark(account.account, isGone: false, at: world.now)
                found += poll.requests.map { ($0, account) }
            } catch {
                if case .pollRefused? = error as? ApprovalError {
                    try book.mark(account.account, isGone: true, at: world.now)
                }
                if accounts.count == 1 || Interruption.happened { throw error }
                if let error = error as? PIVError, error.isRefusedPIN { throw error }
                let reason = Explain.explain(error)
                if reason.exit == .interrupted { throw error }
                failures.append((account, reason))
            }
        }
        if let first = failures.first, failures.count == accounts.count { throw first.reason }
        for failure in failures {
            world.terminal.warn(
                "account '\(failure.account.account.name.printable)' was not asked: \(failure.reason.message)")
        }
        found = found.filter { request, account in
            let isAnswered = history.isAnswered(request.nonce, account: account.account.id)
            if isAnswered { world.terminal.note("request \(request.id) was answered here already") }
            return !isAnswered
        }
        let times = try seen(found.map(\.0.nonce))
        open = found.map { request, account in
            OpenRequest(
                request: request, account: account, seen: times[request.nonce] ?? world.now, isPolled: true)
        }
    }

    private func tell(_ poll: PushPoll, _ account: PushAccount) {
        if let seconds = poll.clockBehind?.components.seconds {
            let words = seconds > 0 ? "behind" : "ahead of"
            world.terminal.warn("this clock is \(seconds.magnitude) s \(words) the server's; 'timedatectl' shows why")
        }
        for fault in poll.faults {
            world.terminal.warn(
                "account '\(account.account.name.printable)': \(Explain.request(fault).message); it is not shown")
        }
    }

    /// Returns when requests were first seen; the store remembers this for an hour.
    private func seen(_ nonces: [String]) throws -> [String: Int64] {
        let known = book.store.settings["seen"]?.object ?? JSONValue.Object()
        var times: [String: Int64] = [:]
        for nonce in nonces { times[nonce] = known[nonce]?.int ?? world.now }
        guard nonces.contains(where: { known[$0] == nil }) else { return times }
        let (now, seen) = (world.now, times)
        try book.file.update { store throws(StoreError) in
            var kept = JSONValue.Object()
            for member in store.settings["seen"]?.object?.members ?? [] {
                if let time = member.value.int, time > now - 3600 { kept[member.key] = .int(time) }
            }
            for (nonce, time) in seen where kept[nonce] == nil { kept[nonce] = .int(time) }
            store.settings["seen"] = .object(kept)
        }
        return times
    }

    /// Returns the request for at least eight characters of an identifier, or the only request if there is no
    /// identifier; the user chooses among several.
    func one(_ id: String?) throws -> OpenRequest {
        if let id, id.utf8.count < 8 { throw Explanation.usage("an identifier has eight characters or more") }
        let found = id.map { id in open.filter { $0.request.nonce.hasPrefix(id.uppercased()) } } ?? open
        guard let request = found.first else {
            if let id, history.events.contains(where: { $0.nonce?.hasPrefix(id.uppercased()) == true }) {
                throw Explanation("answered", .notFound, "this request was answered here already")
            }
            throw Explanation(
                "no-request", .notFound, id == nil ? "no request is open" : "no such request is open",
                hint: "requests expire, most after two minutes; 'ykit approve list' shows those that are open")
        }
        guard found.count > 1 else { return request }
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
        for account in try book.asked(query, world) {
            let serial = account.account.serial
            plan.add(
                "sign '\(PushText.poll(serial: serial, timestamp: UTCDate.timestamp(world.now)))'",
                ["with the key of account '\(account.account.name)'", "then ask \(account.url)"])
        }
        return true
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
