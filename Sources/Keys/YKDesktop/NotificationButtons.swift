// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport

/// Shows notifications with buttons, and reports which ones are pressed.
public final class NotificationButtons: Sendable {
    /// The maximum number of notifications whose buttons are tracked.
    private static let limit = 200

    private let notifications: DesktopNotifications
    private let pressed: @Sendable (_ identifier: String, _ action: String) -> Void
    /// The identifiers of notifications by number; locked until a new one has its number, so that none of its buttons is
    /// missed.
    private let shown = Mutex<[UInt32: String]>([:])
    private let isEnded = Atomic(false)

    /// Starts to listen; every press of a button will be noticed from now on.
    ///
    /// - Parameters:
    ///   - pressed: Called on another thread with the identifier of a notification and the name of an action.
    ///   - ended: Called on the same thread if the connection to the desktop ends.
    /// - Throws: `noSession` if the desktop cannot be reached, `noThread`.
    public init(
        _ notifications: DesktopNotifications,
        pressed: @escaping @Sendable (_ identifier: String, _ action: String) -> Void,
        ended: @escaping @Sendable () -> Void
    ) throws(DesktopError) {
        (self.notifications, self.pressed) = (notifications, pressed)
        let service = notifications.service
        guard service.watch() else { throw .noSession }
        let isStarted = SystemThread.start { [self] in
            service.listen { [self] in receive($0, $1) }
            if !isEnded.load(ordering: .acquiring) { ended() }
        }
        guard isStarted else { throw .noThread }
    }

    /// Stops listening.
    public func end() {
        isEnded.store(true, ordering: .releasing)
        notifications.service.end()
    }

    /// Shows a notification for two minutes.
    ///
    /// - Parameters:
    ///   - identifier: The identifier to report when a button is pressed.
    ///   - actions: The names and the labels of the buttons.
    /// - Throws: `notificationRefused`.
    public func show(
        _ identifier: String, _ title: String, _ lines: [String], actions: [(name: String, label: String)]
    ) throws(DesktopError) {
        let isShown = shown.withLock { shown in
            guard let number = notifications.show(title, lines, actions: actions, milliseconds: 120_000) else {
                return false
            }
            if shown.count >= Self.limit { shown = [:] }
            shown[number] = identifier
            return true
        }
        guard isShown else { throw .notificationRefused }
    }

    /// Closes the notification with an identifier, if it is shown.
    public func close(_ identifier: String) {
        let numbers = shown.withLock { shown in
            let numbers = shown.filter { $0.value == identifier }.keys
            for number in numbers { shown[number] = nil }
            return Array(numbers)
        }
        for number in numbers { notifications.close(number) }
    }

    private func receive(_ number: UInt32, _ action: String) {
        if let identifier = shown.withLock({ $0[number] }) { pressed(identifier, action) }
    }
}
