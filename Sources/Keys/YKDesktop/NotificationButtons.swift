// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
import YKTransport

/// Shows notifications with buttons, and reports which ones are pressed.
public final class NotificationButtons: Sendable {
    /// The maximum number of notifications whose buttons are tracked.
    private static let limit = 200
    /// How long to wait, in milliseconds, until the monitor is connected.
    private static let startLimit: Int32 = 2000

    private struct State {
        /// The identifiers of notifications by number.
        var shown: [UInt32: String] = [:]
        /// While a notification is being created: the buttons pressed before its number was known.
        var early: [UInt32: String]?
        var isEnded = false
    }

    private let notifications: DesktopNotifications
    private let pressed: @Sendable (_ identifier: String, _ action: String) -> Void
    private let isConnected = Semaphore()
    private let monitor = Mutex<ChildProcess.Stream?>(nil)
    private let state = Mutex(State())

    init(
        _ notifications: DesktopNotifications,
        pressed: @escaping @Sendable (_ identifier: String, _ action: String) -> Void
    ) {
        (self.notifications, self.pressed) = (notifications, pressed)
    }

    /// Starts to listen, and returns once every press of a button will be noticed.
    ///
    /// - Parameters:
    ///   - pressed: Called on another thread with the identifier of a notification and the name of an action.
    ///   - ended: Called on the same thread if the monitor ends.
    /// - Throws: `program` if the monitor cannot be run, `noThread`.
    public convenience init(
        _ notifications: DesktopNotifications,
        pressed: @escaping @Sendable (_ identifier: String, _ action: String) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(DesktopError) {
        self.init(notifications, pressed: pressed)
        let stream = try notifications.monitor()
        monitor.withLock { $0 = stream }
        let isStarted = SystemThread.start { [self] in
            stream.lines { receive($0) }
            if !state.withLock({ $0.isEnded }) { ended() }
        }
        guard isStarted else { throw .noThread }
        _ = isConnected.wait(milliseconds: Self.startLimit)
    }

    /// Stops listening.
    public func end() {
        state.withLock { $0.isEnded = true }
        monitor.withLock { $0 }?.end()
    }

    /// Shows a notification for two minutes.
    ///
    /// - Parameters:
    ///   - identifier: The identifier to report when a button is pressed.
    ///   - actions: The names (letters only) and the labels of the buttons.
    /// - Throws: `notificationRefused`.
    public func show(
        _ identifier: String, _ title: String, _ lines: [String], actions: [(name: String, label: String)]
    ) throws(DesktopError) {
        state.withLock { $0.early = [:] }
        defer { state.withLock { $0.early = nil } }
        guard let number = notifications.show(title, lines, actions: actions, milliseconds: 120_000) else {
            throw .notificationRefused
        }
        let early = state.withLock { state in
            if state.shown.count >= Self.limit { state.shown = [:] }
            state.shown[number] = identifier
            return state.early?[number]
        }
        if let early { pressed(identifier, early) }
    }

    /// Closes the notification with an identifier, if it is shown.
    public func close(_ identifier: String) {
        let numbers = state.withLock { state in
            let numbers = state.shown.filter { $0.value == identifier }.keys
            for number in numbers { state.shown[number] = nil }
            return Array(numbers)
        }
        for number in numbers { notifications.close(number) }
    }

    /// Processes a line of the monitor.
    func receive(_ line: String) {
        switch DesktopNotifications.Signal(line) {
        case .connected?: isConnected.post()
        case .action(let number, let name)?:
            let identifier: String? = state.withLock { state in
                let identifier = state.shown[number]
                if identifier == nil { state.early?[number] = name }
                return identifier
            }
            if let identifier { pressed(identifier, name) }
        case nil: break
        }
    }
}
