// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKApproval
import YKHardware
import YKTransport

/// The user's choice in a notification.
struct NotificationChoice: Hashable, Sendable {
    /// The possible choices. Approval is not one of them, since a popup under the pointer must not approve.
    enum Action: String, Sendable {
        case show, decline
    }

    /// The request's nonce.
    let nonce: String
    /// The action.
    let action: Action
}

/// Notifications of the desktop (org.freedesktop.Notifications), through gdbus.
final class DesktopNotifier: Sendable {
    /// The maximum number of request notifications at once; further requests are counted in one.
    static let burst = 5
    /// The maximum number of notifications whose buttons are tracked.
    private static let limit = 200
    /// The maximum length of server text in a notification.
    private static let textLimit = 200
    /// How long to wait, in milliseconds, until gdbus listens.
    private static let startLimit: Int32 = 2000

    private struct State {
        /// The nonces of requests by notification number.
        var shown: [UInt32: String] = [:]
        /// While a notification is being made: the choices that came before its number did.
        var early: [UInt32: NotificationChoice.Action]?
        var isEnded = false
        var hasFailed = false
    }

    private let tool: String
    private let box: WatchBox
    private let monitor: ChildProcess.Stream
    private let isListening = Semaphore()
    private let state = Mutex(State())

    /// Starts to listen for choices, and returns once none is missed.
    init(_ box: WatchBox) throws(Explanation) {
        let tool = try DesktopNotification.tool()
        (self.tool, self.box) = (tool, box)
        monitor = try Spawn.stream(tool, ["monitor", "--session"] + DesktopNotification.service)
        let isStarted = SystemThread.start { [self] in listen() }
        guard isStarted else { throw Explanation("failed", .failed, "no thread for the notifications") }
        _ = isListening.wait(milliseconds: Self.startLimit)
    }

    /// Stops listening.
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
        notify(title.isEmpty ? "A login waits for approval" : title, lines, buttons: true) { [self] number in
            let early = state.withLock { state in
                if state.shown.count >= Self.limit { state.shown = [:] }
                state.shown[number] = open.request.nonce
                return state.early?[number]
            }
            if let early { box.choose(NotificationChoice(nonce: open.request.nonce, action: early)) }
        }
    }

    /// Notifies of further requests in one notification.
    func tell(more count: Int) {
        notify("\(count) more logins wait for approval", ["ykit approve list"], buttons: false) { _ in }
    }

    private func notify(
        _ title: String, _ lines: [String], buttons: Bool, _ done: (UInt32) -> Void
    ) {
        let actions = buttons ? [("show", "Show"), ("decline", "Decline")] : []
        state.withLock { $0.early = [:] }
        defer { state.withLock { $0.early = nil } }
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
        // Monitoring signals on object /org/freedesktop/Notifications owned by org.freedesktop.Notifications
        // The name org.freedesktop.Notifications is owned by :1.5
        // /org/freedesktop/Notifications: org.freedesktop.Notifications.ActionInvoked (uint32 7, 'decline')
        monitor.lines { line in
            if line.hasPrefix("The name ") { isListening.post() }
            guard let start = line.firstRange(of: ".ActionInvoked (uint32 ") else { return }
            let parts = line[start.upperBound...].split(separator: ",", maxSplits: 1)
            guard parts.count == 2, let number = UInt32(parts[0]) else { return }
            let word = parts[1].filter { $0.isLetter }
            guard let action = NotificationChoice.Action(rawValue: word) else { return }
            let nonce: String? = state.withLock { state in
                let nonce = state.shown[number]
                if nonce == nil { state.early?[number] = action }
                return nonce
            }
            if let nonce { box.choose(NotificationChoice(nonce: nonce, action: action)) }
        }
        if !state.withLock({ $0.isEnded }) {
            Terminal().warnNow("the desktop's notifications cannot be heard any more")
        }
    }
}

/// Whether the screen is locked, according to logind (LockedHint); `false` if unknown.
struct ScreenLock {
    private var next = ContinuousClock.now
    private var isKnownLocked = false
    private var isSilent = false
    /// How long an answer is cached.
    private static let patience = Duration.seconds(1)

    /// Queries logind, at most once a second.
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

/// A command that runs for each request, one at a time, so that a burst does not start many processes.
final class CommandHook: Sendable {
    private let command: String
    private let terminal: Terminal
    private let queue = WorkQueue()

    init(_ command: String, _ terminal: Terminal) { (self.command, self.terminal) = (command, terminal) }

    /// Queues a run of the command with these bytes on standard input.
    func add(_ input: [UInt8]) { queue.add { [self] in run(input) } }

    /// Waits up to a minute until all runs have ended.
    func finish() { queue.finish(within: ChildProcess.limit) }

    private func run(_ input: [UInt8]) {
        do throws(Explanation) {
            let result = try Spawn.run("/bin/sh", ["-c", command], input: input)
            if result.status != 0 {
                terminal.warnNow("the command for notifications failed with status \(result.status)")
            }
        } catch { terminal.warnNow(error.message) }
    }
}
