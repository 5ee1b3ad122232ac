// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKTransport

/// Notifications of the desktop (org.freedesktop.Notifications), over D-Bus by libsystemd.
public struct DesktopNotifications: Sendable {
    let service: any NotificationService

    init(_ service: any NotificationService) { self.service = service }

    /// Finds the notification service of a session.
    ///
    /// - Throws: `noSession` without a session bus, `notInstalled` without libsystemd.
    public init(_ session: DesktopSession) throws(DesktopError) {
        guard session.hasBus else { throw .noSession }
        guard let bus = MessageBus(isOfSystem: false) else { throw .notInstalled(library: MessageBus.library) }
        service = bus
    }

    /// Shows a notification; waits at most five seconds for the desktop.
    ///
    /// - Parameters:
    ///   - lines: The text below the title, without markup.
    ///   - actions: The names and labels of the buttons.
    ///   - milliseconds: The time until it expires; 0 if it never does.
    /// - Returns: Its number; `nil` if the desktop did not accept it.
    public func show(
        _ title: String, _ lines: [String], actions: [(name: String, label: String)] = [], milliseconds: Int
    ) -> UInt32? {
        service.notify(
            title, lines.map(Self.escaped).joined(separator: "\n"), actions: actions.flatMap { [$0.name, $0.label] },
            milliseconds: Int32(clamping: milliseconds))
    }

    /// Closes a notification.
    public func close(_ number: UInt32) { service.close(number) }

    /// Escapes the markup that notification bodies may contain.
    static func escaped(_ text: String) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": out += "&amp;"
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}

/// Runs work in order on a thread of its own.
package final class WorkQueue: Sendable {
    private let state = Mutex<(waiting: [@Sendable () -> Void], isRunning: Bool)>(([], false))

    package init() {}

    /// Adds work after everything added before.
    package func add(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard starts else { return }
        if !SystemThread.start({ [self] in run() }) { state.withLock { $0.isRunning = false } }
    }

    /// Waits until all work is done, or until the deadline.
    package func finish(by deadline: Deadline) {
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
