// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
package import TerminalIO
import Verbs
package import YKApproval
import YKHTTP
import YKTransport

extension RequestWatch.Counts: Report {
    package static let members: [Member<RequestWatch.Counts>] = [
        Member("reported") { $0.reported },
        Member("repeated", "requests that were reported or answered before") { $0.repeated },
        Member("unverified", "messages not signed by an account's server") { $0.unverified },
    ]
}

/// Reports requests as they arrive, for all accounts at once.
struct ApproveWatch: AccountKeyVerb {
    static let about = About(
        "Report requests for all accounts as they are delivered or polled.",
        discussion: """
            Nothing is approved here: an approval needs 'ykit approve yes'. A request is reported once: on a line of its \
            own, in a notification with --notify, which can decline it, and to a command with --command. While the screen \
            is locked nothing is reported; requests wait.

            With --listen a server delivers requests by POST, and only those that an account's server signed are \
            accepted. Accounts without an address for delivery are polled, which requires a signature: keys that \
            require a touch each time are not polled, and those that cache a touch for 15 seconds only with --touch-ok.

            DURATION and SECONDS are a number, optionally followed by s, m or h.
            """,
        examples: [Example("ykit approve watch"), Example("ykit approve watch --every 30 --command ./notify.sh")])

    static let events: [MemberForm] = WatchEvent.members.map(\.form)

    @Option("--account", help: "Only this account.") var account: EntryQuery?

    @Option("--listen <address:port>", help: "Accept delivered requests at this address, such as 127.0.0.1:8088.")
    var listen: String?

    @Option(
        "--every <seconds>",
        help: "Poll this often (default: every 60 seconds; every 5 with --for up to five minutes)."
    )
    var every: WatchDuration?

    @Option("--for <duration>", help: "Stop after this time.") var limit: WatchDuration?

    @Option(
        "--command <command>", help: "Run this shell command for each request, with the request on its standard input.")
    var command: String?

    @Flag("--touch-ok", help: "Also poll keys that cache a touch for 15 seconds: each poll may require one.")
    var touchOk = false

    @Flag("--pause-on-battery", help: "Do not poll while the computer runs on battery.") var pauseOnBattery = false

    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<RequestWatch.Counts> {
        try run.refusePlan("--plan shows one exchange, but watch runs until it is stopped")
        let desk = try PendingRequests(run, path, key)
        let accounts = try desk.accounts.asked(account, run)
        let box = WatchedRequests(RequestWatch(accounts, answered: desk.session.history.answered))
        let polled = try accounts.filter { try isPolled($0, run) }
        guard listen != nil || !polled.isEmpty else { throw Self.nothingToWatch(accounts) }
        let listener = try listen.map { address throws(Explanation) in try Self.listener(address, box.requests, run) }
        defer { listener?.stop() }
        var session = WatchSession(
            desk: desk, box: box, isJSON: run.options.json, hook: command.map { CommandHook($0, run) },
            notifier: run.options.notify ? try DesktopNotifier(box, run.terminal) : nil)
        session.pausesOnBattery = pauseOnBattery
        defer { session.end() }
        session.tellReady(listener?.url, polled: polled.count, of: accounts.count)
        let interval = every?.value ?? (limit.map { $0.value <= .seconds(300) } ?? false ? .seconds(5) : .seconds(60))
        let isOver = try await session.run(polled, every: interval, until: limit.map { .now + $0.value })
        let counts = box.requests.counts
        guard isOver, counts.reported == 0 else { return Outcome(counts) }
        throw Explanation("no-request", .timeOut, "no request arrived within this time")
    }

    /// Whether an account is polled; warns if its requests are neither polled nor delivered.
    private func isPolled(_ account: PushAccount, _ run: Run) throws -> Bool {
        if listen != nil, account.address != nil { return false }
        switch account.pollCost {
        case .nothing: return true
        case .someTouches where touchOk: return true
        default:
            run.terminal.warn(
                "not-polled",
                "account '\(account.account.name.printable)' is not polled: each poll would require a touch"
                    + (account.pollCost == .someTouches ? "; --touch-ok allows it" : ""))
            return false
        }
    }

    private static func nothingToWatch(_ accounts: [PushAccount]) -> Explanation {
        Explanation(
            "poll-needs-touch", .policy, "nothing is watched: each poll would require a touch",
            hint: "have requests delivered (--listen, after 'ykit approve address'), or allow touches with --touch-ok",
            candidates: accounts.map { "\($0.account.name)  \($0.account.id)" })
    }

    private static func listener(
        _ address: String, _ requests: IncomingRequests, _ run: Run
    ) throws(Explanation) -> HTTPListener {
        do {
            let listener = try HTTPListener(address) { request in requests.answer(request) }
            if !address.hasPrefix("127."), !address.hasPrefix("[::1]") {
                run.terminal.warn("no-tls", "requests are delivered without TLS: others on the network can read them")
            }
            return listener
        } catch {
            switch error {
            case .failed(_, let reason): throw Explanation("listen", .failed, reason.printable)
            default: throw .usage("--listen: \(error.description.printable)")
            }
        }
    }
}

/// A duration: a number of seconds, or a number with s, m or h.
struct WatchDuration: ExpressibleByArgument {
    let value: Duration

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600]
        let unit = argument.last.flatMap { units[$0] }
        let digits = unit == nil ? argument : String(argument.dropLast())
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits),
            case let seconds = number * (unit ?? 1), (0.1...2_592_000).contains(seconds)
        else { return nil }
        value = .milliseconds(Int64(seconds * 1000))
    }
}

/// The requests still to be reported, and the user's choices in notifications.
final class WatchedRequests: Sendable {
    let requests: IncomingRequests
    private let choices = Mutex<[NotificationChoice]>([])

    init(_ watch: RequestWatch) { requests = IncomingRequests(watch) }

    /// Queues the user's choice.
    func choose(_ choice: NotificationChoice) { choices.withLock { $0.append(choice) } }

    /// Returns and removes the choices since the last call.
    func takeChoices() -> [NotificationChoice] {
        choices.withLock { choices in
            defer { choices = [] }
            return choices
        }
    }
}
