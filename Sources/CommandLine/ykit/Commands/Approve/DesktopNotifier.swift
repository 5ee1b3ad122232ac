// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKApproval
import YKTransport

/// What somebody chose in a notification.
struct NotificationChoice: Hashable, Sendable {
    /// What can be chosen. An approval cannot: what pops up under the pointer must not approve.
    enum Action: String, Sendable {
        case show, decline
    }

    /// The request.
    let nonce: String
    /// What to do.
    let action: Action
}

/// Notifications of the desktop (org.freedesktop.Notifications), through gdbus.
final class DesktopNotifier: Sendable {
    /// The most notifications for requests that come at once; more are told as a number.
    static let burst = 5
    /// The most notifications whose buttons are known.
    private static let limit = 200
    /// The longest text of a server in a notification.
    private static let textLimit = 200

    private struct State {
        /// The nonces of requests, by the numbers of their notifications.
        var shown: [UInt32: String] = [:]
        var isEnded = false
        var hasFailed = false
    }

    private let tool: String
    private let box: WatchBox
    private let monitor: Spawn.Stream
    private let state = Mutex(State())

    /// Begins to listen for what people choose.
    init(_ box: WatchBox) throws(Explanation) {
        let tool = try DesktopNotification.tool()
        (self.tool, self.box) = (tool, box)
        monitor = try Spawn.stream(tool, ["monitor", "--session"] + DesktopNotification.service)
        let isStarted = SystemThread.start { [self] in listen() }
        guard isStarted else { throw Explanation("failed", .failed, "no thread for the notifications") }
    }

    /// Ends the listening.
    func end() {
        state.withLock { $0.isEnded = true }
        monitor.end()
    }

    /// Notifies of a request, with buttons to show and to decline it.
    func tell(_ open: OpenRequest) {
        let title = PushRequest.shown(open.request.title, limit: 128)
        let account = PushRequest.shown(open.account.account.name, limit: 64)
        let lines = [
            PushRequest.shown(open.request.question, limit: Self.textLimit),
            "\(account) at \(open.account.account.server)",
            "To approve it: ykit approve yes \(open.request.id)",
        ]
        notify(title.isEmpty ? "A log-in waits for approval" : title, lines, buttons: true) { [self] number in
            state.withLock { state in
                if state.shown.count >= Self.limit { state.shown = [:] }
                state.shown[number] = open.request.nonce
            }
        }
    }

    /// Notifies of requests beyond the first few.
    func tell(more count: Int) {
        notify("\(count) more log-ins wait for approval", ["ykit approve list"], buttons: false) { _ in }
    }

    private func notify(
        _ title: String, _ lines: [String], buttons: Bool, _ done: (UInt32) -> Void
    ) {
        let actions = buttons ? [("show", "Show"), ("decline", "Decline")] : []
        guard let number = DesktopNotification.show(title, lines, actions: actions, milliseconds: 120_000, with: tool)
        else {
            let isFirst = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isFirst { Terminal().warnNow("the desktop took no notification") }
            return
        }
        done(number)
    }

    /// Reads the signals of the notification service until the monitor ends.
    private func listen() {
        // /org/freedesktop/Notifications: org.freedesktop.Notifications.ActionInvoked (uint32 7, 'decline')
        monitor.lines { line in
            guard let start = line.firstRange(of: ".ActionInvoked (uint32 ") else { return }
            let parts = line[start.upperBound...].split(separator: ",", maxSplits: 1)
            guard parts.count == 2, let number = UInt32(parts[0]) else { return }
            let word = parts[1].filter { $0.isLetter }
            guard let action = NotificationChoice.Action(rawValue: word),
                let nonce = state.withLock({ $0.shown[number] })
            else { return }
            box.choose(NotificationChoice(nonce: nonce, action: action))
        }
        if !state.withLock({ $0.isEnded }) {
            Terminal().warnNow("the desktop's notifications cannot be heard any more")
        }
    }
}

/// Whether the screen is locked, as logind knows it (LockedHint). Where nobody tells, it is not.
struct ScreenLock {
    private var next = ContinuousClock.now
    private var isKnownLocked = false
    private var isSilent = false
    /// How long an answer counts.
    private static let patience = Duration.seconds(1)

    /// Asks logind, at most once a second.
    mutating func isLocked() -> Bool {
        guard !isSilent else { return false }
        guard next <= .now else { return isKnownLocked }
        next = .now + Self.patience
        guard let tool = Spawn.find("gdbus"),
            let result = try? Spawn.run(
                tool,
                [
                    "call", "--system", "--timeout", "2", "--dest", "org.freedesktop.login1", "--object-path",
                    "/org/freedesktop/login1/session/auto", "--method", "org.freedesktop.DBus.Properties.Get",
                    "org.freedesktop.login1.Session", "LockedHint",
                ], within: .seconds(3)), result.status == 0
        else {
            isSilent = true
            return false
        }
        isKnownLocked = String(decoding: result.output, as: UTF8.self).hasPrefix("(<true>")
        return isKnownLocked
    }
}

/// A command that is run for each request, one after the other, so that a burst starts no crowd of processes.
final class CommandHook: Sendable {
    private let command: String
    private let terminal: Terminal
    private let queue = WorkQueue()

    init(_ command: String, _ terminal: Terminal) { (self.command, self.terminal) = (command, terminal) }

    /// Has the command run with these bytes on its standard input.
    func add(_ input: [UInt8]) { queue.add { [self] in run(input) } }

    /// Waits until all have run, for a minute at most.
    func finish() { queue.finish(within: Spawn.limit) }

    private func run(_ input: [UInt8]) {
        do throws(Explanation) {
            let result = try Spawn.run("/bin/sh", ["-c", command], input: input)
            if result.status != 0 {
                terminal.warnNow("the command for notifications failed with status \(result.status)")
            }
        } catch { terminal.warnNow(error.message) }
    }
}
