// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import YKHardware
public import YKTransport
import YKWire

/// Notifies a person away from the terminal that the key waits for a touch, and why, and when the wait is over.
public final class TouchNotifier: Sendable {
    /// How the person is notified.
    public enum Means: Sendable {
        /// With a notification of the desktop.
        case desktop(DesktopNotifications)
        /// With a shell command, which gets a JSON object on its standard input: `event`, `touch` or `done`; `message`, what
        /// to do; `reason`; and `pid`, the process that waits.
        case command(String)
    }

    private let means: Means
    private let programs: ProgramRunner
    private let cancellation: Cancellation
    private let failed: @Sendable (DesktopError) -> Void
    private let queue = WorkQueue()
    /// The number of the visible notification.
    private let shown = Mutex<UInt32?>(nil)
    private let reason = Mutex("")
    private let hasFailed = Mutex(false)
    /// The timeout for the command.
    private static let limit = Duration.seconds(5)

    /// Creates a notifier.
    ///
    /// - Parameter failed: Called once, on another thread, when a notification fails for the first time:
    ///   `notificationRefused`, `command` or `program`.
    public convenience init(
        _ means: Means, cancellation: Cancellation = Cancellation(), failed: @escaping @Sendable (DesktopError) -> Void
    ) {
        self.init(means, .system(cancellation, limit: Self.limit), cancellation, failed: failed)
    }

    package init(
        _ means: Means, _ programs: ProgramRunner, _ cancellation: Cancellation = Cancellation(),
        failed: @escaping @Sendable (DesktopError) -> Void
    ) {
        (self.means, self.programs, self.cancellation, self.failed) = (means, programs, cancellation, failed)
    }

    /// Reports that the key waits.
    ///
    /// - Parameters:
    ///   - message: What the user should do.
    ///   - reason: The purpose of the operation.
    public func begin(_ message: String, for reason: String) {
        self.reason.withLock { $0 = reason }
        queue.add { [self] in
            switch means {
            case .desktop(let notifications):
                let title = message.prefix(1).uppercased() + message.dropFirst()
                let number = notifications.show(title, [reason], milliseconds: 0)
                if number == nil { fail(.notificationRefused) }
                shown.withLock { $0 = number }
            case .command(let command): run(command, "touch", message, reason)
            }
        }
    }

    /// Reports that the key no longer waits.
    public func end() {
        queue.add { [self] in
            switch means {
            case .desktop(let notifications):
                let number = shown.withLock { shown in
                    defer { shown = nil }
                    return shown
                }
                if let number { notifications.close(number) }
            case .command(let command): run(command, "done", nil, reason.withLock { $0 })
            }
        }
    }

    /// Waits up to five seconds for pending notifications, so that none is left on the screen.
    public func finish() { queue.finish(by: .after(Self.limit, cancellation: cancellation)) }

    private func run(_ command: String, _ event: String, _ message: String?, _ reason: String) {
        let line: JSONValue = [
            "event": .string(event), "message": message.map(JSONValue.string) ?? .null, "reason": .string(reason),
            "pid": .int(Int64(getpid())),
        ]
        do throws(ProgramError) {
            let result = try programs.run("/bin/sh", ["-c", command], Array((line.text + "\n").utf8), [:])
            if result.status != 0 { fail(.command(status: result.status)) }
        } catch { fail(.program(error)) }
    }

    private func fail(_ error: DesktopError) {
        let isFirst = hasFailed.withLock { failed in
            defer { failed = true }
            return !failed
        }
        if isFirst { failed(error) }
    }
}
