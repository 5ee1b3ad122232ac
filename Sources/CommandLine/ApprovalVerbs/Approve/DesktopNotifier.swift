// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKApproval
import YKDesktop
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

/// Desktop notifications of requests.
final class DesktopNotifier: Sendable {
    /// The maximum number of request notifications at once; further requests are counted in one.
    static let burst = 5
    /// The maximum length of server text in a notification.
    private static let textLimit = 200

    private let buttons: NotificationButtons
    private let hasFailed = Mutex(false)
    private let terminal: Terminal

    /// Starts listening for choices; returns when none can be missed.
    init(_ box: WatchedRequests, _ terminal: Terminal) throws(DesktopError) {
        self.terminal = terminal
        buttons = try NotificationButtons(try DesktopNotifications(terminal.stage.desktop)) { nonce, word in
            guard let action = NotificationChoice.Action(rawValue: word) else { return }
            box.choose(NotificationChoice(nonce: nonce, action: action))
        } ended: {
            terminal.warnNow("lost the connection to the desktop's notification service")
        }
    }

    /// Stops listening.
    func end() { buttons.end() }

    /// Notifies of a request, with buttons to show and to decline it.
    func tell(_ open: OpenRequest) {
        let title = PushRequest.shown(open.request.title, limit: 128)
        let account = PushRequest.shown(open.account.account.name, limit: 64)
        let lines = [
            PushRequest.shown(open.request.question, limit: Self.textLimit),
            "\(account) at \(open.account.account.server)",
            "To approve it: ykit approve yes \(open.request.id)",
        ]
        show(
            open.request.nonce, title.isEmpty ? "A login is waiting for approval" : title, lines,
            actions: [("show", "Show"), ("decline", "Decline")])
    }

    /// Notifies of further requests in one notification.
    func tell(more count: Int) {
        show("", "\(count) more logins are waiting for approval", ["ykit approve list"], actions: [])
    }

    private func show(
        _ nonce: String, _ title: String, _ lines: [String], actions: [(name: String, label: String)]
    ) {
        do throws(DesktopError) { try buttons.show(nonce, title, lines, actions: actions) } catch {
            let isFirst = hasFailed.withLock { failed in
                defer { failed = true }
                return !failed
            }
            if isFirst { terminal.warnNow(Explanation(error).message) }
        }
    }
}

/// A command that runs for each request, one at a time, so that a burst does not start many processes.
final class CommandHook: Sendable {
    private let command: String
    private let terminal: Terminal
    private let cancellation: Cancellation
    private let queue = WorkQueue()

    init(_ command: String, _ run: Run) {
        (self.command, terminal, cancellation) = (command, run.terminal, run.environment.cancellation)
    }

    /// Queues a run of the command with these bytes on standard input.
    func add(_ input: [UInt8]) { queue.add { [self] in run(input) } }

    /// Waits up to a minute until all runs have ended.
    func finish() { queue.finish(by: .after(ChildProcess.limit, cancellation: cancellation)) }

    private func run(_ input: [UInt8]) {
        do {
            let result = try terminal.stage.programs.run("/bin/sh", ["-c", command], input, [:])
            if result.status != 0 {
                terminal.warnNow("the command for notifications failed with status \(result.status)")
            }
        } catch { terminal.warnNow(Explanation(error).message) }
    }
}
