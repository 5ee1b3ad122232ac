// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKHardware
import YKTransport
import YKWire

/// Runs work in order on a thread of its own.
final class WorkQueue: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isRunning: Bool)>(([], false))

    /// Adds work after everything added before.
    func add(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        if !SystemThread.start({ [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Waits until all work is done, or until the timeout.
    func finish(within limit: Duration) {
        let deadline = Deadline.after(limit, cancellation: Interruption.cancellation)
        while state.withLock({ $0.isRunning }), !deadline.isOver, !deadline.isCancelled {
            Pause.step(deadline, atMost: 20)
        }
    }

    private func run() {
        while true {
            let work: (@Sendable () -> Void)? = state.withLock { state in
                guard !state.waiting.isEmpty else {
                    state.isRunning = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            guard let work else { return }
            work()
        }
    }
}

/// Notifies a person away from the terminal that the key waits for a touch, and why, and when the wait is over, with a
/// desktop notification or a command.
final class TouchNotifier: Sendable {
    private enum Means { case desktop(tool: String), command(String) }

    private let means: Means
    private let queue = WorkQueue()
    /// The number of the visible notification.
    private let shown = Mutex<UInt32?>(nil)
    private let reason = Mutex("")
    private let hasFailed = Mutex(false)

    private init(_ means: Means) { self.means = means }

    /// Returns the notifier chosen by `--notify` or YKIT_NOTIFY: `desktop`, or a shell command; `nil` without either.
    ///
    /// - Throws: `no-desktop` or `no-gdbus`.
    static func wanted(_ options: GlobalOptions) throws(Explanation) -> TouchNotifier? {
        let word = options.notify ? "desktop" : Variables["YKIT_NOTIFY"] ?? ""
        switch word {
        case "": return nil
        case "desktop": return TouchNotifier(.desktop(tool: try DesktopNotification.tool()))
        default: return TouchNotifier(.command(word))
        }
    }

    /// Reports that the key waits.
    ///
    /// - Parameters:
    ///   - words: What the user should do.
    ///   - reason: The purpose of the operation.
    func begin(_ words: String, for reason: String) {
        self.reason.withLock { $0 = reason }
        queue.add { [self] in
            switch means {
            case .desktop(let tool):
                let number = DesktopNotification.show(words.capitalized, [reason], milliseconds: 0, with: tool)
                if number == nil { warn("the desktop took no notification") }
                shown.withLock { $0 = number }
            case .command(let command): run(command, "touch", words, reason)
            }
        }
    }

    /// Reports that the key no longer waits.
    func end() {
        queue.add { [self] in
            switch means {
            case .desktop(let tool):
                let number = shown.withLock { shown in
                    defer { shown = nil }
                    return shown
                }
                if let number { DesktopNotification.close(number, with: tool) }
            case .command(let command): run(command, "done", "", reason.withLock { $0 })
            }
        }
    }

    /// Waits for pending notifications, so that none is left on the screen.
    func finish() { queue.finish(within: .seconds(5)) }

    private func run(_ command: String, _ event: String, _ words: String, _ reason: String) {
        let line: JSONValue = [
            "event": .string(event), "message": words.isEmpty ? .null : .string(words), "reason": .string(reason),
            "pid": .int(Int64(getpid())),
        ]
        do throws(Explanation) {
            let input = Array((line.text + "\n").utf8)
            let result = try Spawn.run("/bin/sh", ["-c", command], input: input, within: .seconds(5))
            if result.status != 0 { warn("the command of YKIT_NOTIFY failed with status \(result.status)") }
        } catch { warn(error.message) }
    }

    private func warn(_ words: String) {
        let isFirst = hasFailed.withLock { failed in
            defer { failed = true }
            return !failed
        }
        if isFirst { Terminal().warnNow(words) }
    }
}

extension String {
    /// The text with its first letter in upper case.
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
