// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKApproval
import YKDesktop
import YKProtocols
import YKWire

/// An event of `approve watch`, for programs.
struct WatchEvent: Report {
    enum Kind: String, CaseIterable {
        case ready, request, show, declined, unverified, fails, answers, clock, paused, resumed
    }

    let kind: Kind
    var accounts: Int?
    var polled: Int?
    var url: String??
    var behind: Int64?
    var count: Int?
    var account: PushAccount?
    var answered: OpenRequest?
    var isAccepted: Bool?
    var reason: String?
    var problem: Explanation?
    var request: ReportedRequest?

    static let members: [Member<WatchEvent>] = [
        Member("event", "\(Kind.allCases.map(\.rawValue).listed())") { $0.kind.rawValue },
        Member(ifKnown: "accountCount") { $0.accounts },
        Member(ifKnown: "polledCount", "how many of the accounts") { $0.polled },
        Member(ifKnown: "url", "where requests are accepted") { $0.url },
        Member(ifKnown: "behind", "the server's clock minus this one, in seconds") { $0.behind },
        Member(ifKnown: "count", "of such messages so far") { $0.count },
        Member(ifKnown: "account", "its name") { $0.account?.account.name },
        Member(ifKnown: "id", "the answered request") { $0.answered?.request.nonce },
        Member(ifKnown: "accepted") { $0.isAccepted },
        Member(ifKnown: "reason", "battery") { $0.reason },
        Member(ifKnown: "problem", "the error, for other reasons") { $0.problem },
        Member(ifKnown: "request", "with texts truncated to 200 characters") { $0.request },
    ]
}

/// A run of `approve watch`: polls, reports requests, and declines those that the user declines in a notification.
struct WatchSession {
    let desk: PendingRequests
    let box: WatchedRequests
    let isJSON: Bool
    let hook: CommandHook?
    let notifier: DesktopNotifier?
    /// Whether polling pauses while the computer runs on battery.
    var pausesOnBattery = false
    private var lock = ScreenLock()
    private var unverified = 0
    /// Reported requests by nonce, for choices in notifications.
    private var reported: [String: OpenRequest] = [:]
    /// Accounts whose server does not respond, which is reported once.
    private var failing: Set<String> = []
    private var saidClock = false
    private var isPaused = false

    /// How often the loop checks for new requests.
    private static let step = Duration.milliseconds(100)
    /// The maximum number of requests kept for choices.
    private static let reportedLimit = 1000

    init(desk: PendingRequests, box: WatchedRequests, isJSON: Bool, hook: CommandHook?, notifier: DesktopNotifier?) {
        (self.desk, self.box, self.isJSON, self.hook, self.notifier) = (desk, box, isJSON, hook, notifier)
    }

    private var terminal: Terminal { desk.run.terminal }

    /// Reports that the session is ready.
    func tellReady(_ url: String?, polled: Int, of count: Int) {
        let listening = url.map { ", accepting requests at \($0)" } ?? ""
        tell(
            WatchEvent(kind: .ready, accounts: count, polled: polled, url: .some(url)),
            ["watching \(count) account\(count == 1 ? "" : "s"), \(polled) polled\(listening)"])
    }

    /// Runs until the timeout or an interruption.
    ///
    /// - Returns: Whether the timeout was reached.
    mutating func run(
        _ polled: [PushAccount], every interval: Duration, until end: ContinuousClock.Instant?
    ) async throws -> Bool {
        var schedules = polled.map { (account: $0, schedule: PollSchedule(every: interval), next: ContinuousClock.now) }
        while true {
            for index in schedules.indices where schedules[index].next <= .now {
                if isOnBattery() {
                    schedules[index].next = .now + interval
                    continue
                }
                let chance = Double.random(in: 0...1)
                if try await poll(schedules[index].account) {
                    schedules[index].next = .now + schedules[index].schedule.afterSuccess(chance)
                } else {
                    schedules[index].next = .now + schedules[index].schedule.afterFailure(chance)
                }
                try tellFound()
            }
            try tellFound()
            for choice in box.takeChoices() { try await act(on: choice) }
            if let end, end <= .now { return true }
            try desk.run.checkInterrupted()
            try await Task.sleep(for: Self.step)
        }
    }

    /// Whether polling pauses because the computer runs on battery; reports changes.
    private mutating func isOnBattery() -> Bool {
        guard pausesOnBattery else { return false }
        let isOnBattery = PowerSupply.isOnBattery()
        if isOnBattery != isPaused {
            isPaused = isOnBattery
            tell(
                WatchEvent(kind: isOnBattery ? .paused : .resumed, reason: "battery"),
                [isOnBattery ? "on battery: nothing is polled" : "on mains: polling continues"])
        }
        return isOnBattery
    }

    /// Stops everything that was started.
    func end() {
        hook?.finish()
        notifier?.end()
    }

    // MARK: polling

    /// Polls an account. Reports a failure once, and the recovery once.
    ///
    /// - Returns: Whether the server answered.
    private mutating func poll(_ account: PushAccount) async throws -> Bool {
        let id = account.account.id
        do {
            let key = try await desk.session.keys.key(of: account)
            let poll = try await desk.session.approver.requests(of: account, key)
            box.requests.take(poll, of: account)
            if let seconds = poll.clockBehind?.components.seconds, !saidClock {
                saidClock = true
                tell(
                    WatchEvent(kind: .clock, behind: seconds),
                    ["this clock differs from the server's by \(seconds.magnitude) s"])
            }
            if failing.remove(id) != nil {
                tell(
                    WatchEvent(kind: .answers, account: account),
                    ["'\(account.account.name.printable)' can be polled again"])
            }
            return true
        } catch {
            try tell(
                error, "'\(account.account.name.printable)' cannot be polled",
                failing.insert(id).inserted ? WatchEvent(kind: .fails, account: account) : nil)
            // The key may have been unplugged, so its connection is not reused.
            if !Self.isServers(error) { await desk.session.keys.close() }
            return false
        }
    }

    private static func isServers(_ error: any Error) -> Bool {
        switch error as? ApprovalError {
        case .server?, .pollRefused?, .clock?, .malformed?: true
        default: false
        }
    }

    // MARK: telling

    private mutating func tellFound() throws {
        let counts = box.requests.counts
        if counts.unverified > unverified {
            tell(
                WatchEvent(kind: .unverified, count: counts.unverified),
                [
                    "\(counts.unverified - unverified) message(s) not signed by an account's server; their contents are not shown"
                ])
            unverified = counts.unverified
        }
        guard box.requests.isWaiting, !lock.isLocked() else { return }
        let found = box.requests.takeAll()
        for (index, found) in found.enumerated() {
            let open = OpenRequest(
                request: found.request, account: found.account, seen: desk.run.now, isPolled: found.isPolled)
            if reported.count >= Self.reportedLimit { reported = [:] }
            reported[open.request.nonce] = open
            let shown = tell(.request, open)
            hook?.add(Array((JSONValue.object(ApproveShow.answer.object(of: shown)).text + "\n").utf8))
            if index < DesktopNotifier.burst { notifier?.tell(open) }
        }
        if found.count > DesktopNotifier.burst { notifier?.tell(more: found.count - DesktopNotifier.burst) }
    }

    /// Writes a request, and returns its report for programs.
    @discardableResult private func tell(_ kind: WatchEvent.Kind, _ open: OpenRequest) -> ReportedRequest {
        let shown = ReportedRequest(open: open, textLimit: 200)
        tell(WatchEvent(kind: kind, request: shown), open.lines(at: desk.run.now))
        return shown
    }

    /// Writes an event: a line of JSON, or lines for people; events other than requests go to standard error.
    private func tell(_ event: WatchEvent, _ lines: [String]) {
        if isJSON {
            terminal.line(event.answer.text)
        } else if event.request == nil {
            lines.forEach { terminal.say($0) }
        } else {
            terminal.lines(lines)
        }
    }

    /// Writes why something failed, unless it was said before, and goes on.
    ///
    /// - Throws: The error of a key that refused the PIN, since its next use would send it again; an interruption.
    private func tell(_ error: any Error, _ words: String, _ event: WatchEvent?) throws {
        if desk.run.isEnded(by: error) { throw Explanation.interrupted }
        if var event {
            let reason = Explanation(error)
            event.problem = reason
            tell(event, ["\(words): \(reason.message)"])
        }
        if RefusedCredential(causing: error) != nil { throw error }
    }

    // MARK: choices

    private mutating func act(on choice: NotificationChoice) async throws {
        guard let open = reported[choice.nonce] else { return }
        switch choice.action {
        case .show:
            tell(.show, open)
            notifier?.tell(open)
        case .decline:
            do {
                let receipt = try await desk.session.decline(open)
                let words = receipt.isAccepted ? "declined" : "not declined: the server did not accept the answer"
                tell(
                    WatchEvent(kind: .declined, answered: open, isAccepted: receipt.isAccepted),
                    ["\(open.request.id) is \(words)"])
                reported[choice.nonce] = nil
            } catch {
                try tell(error, "\(open.request.id) was not declined", WatchEvent(kind: .fails, answered: open))
            }
        }
    }
}

extension ApprovalHistory {
    /// The answered requests whose answers the server accepted.
    var answered: [(account: String, nonce: String)] {
        events.compactMap { event in
            guard event.isAccepted == true, let nonce = event.nonce else { return nil }
            return (event.account, nonce)
        }
    }
}
