// SPDX-License-Identifier: Apache-2.0

import CDBus
import Glibc

/// The service that shows notifications (org.freedesktop.Notifications).
protocol NotificationService: Sendable {
    /// Shows a notification.
    ///
    /// - Parameters:
    ///   - actions: The names and labels of the buttons in turn.
    ///   - milliseconds: The time until it expires; 0 if it never does.
    /// - Returns: Its number; `nil` if the service did not accept it.
    func notify(_ title: String, _ body: String, actions: [String], milliseconds: Int32) -> UInt32?
    /// Closes a notification.
    func close(_ number: UInt32)
    /// Whether buttons that are pressed from now on will be reported.
    func watch() -> Bool
    /// Reports the buttons that are pressed, until ``end()`` is called or the service can no longer be reached.
    func listen(_ pressed: @escaping @Sendable (_ number: UInt32, _ action: String) -> Void)
    /// Ends ``listen(_:)``.
    func end()
}

/// A connection to a message bus (D-Bus), opened when it is first used.
final class MessageBus: NotificationService {
    static let library = "libsystemd.so.0"

    private nonisolated(unsafe) let bus: OpaquePointer

    /// Names the bus of the session or of the system; `nil` without libsystemd.
    init?(isOfSystem: Bool) {
        guard ykit_dbus() == 1, let bus = ykit_bus_new(isOfSystem ? 1 : 0) else { return nil }
        self.bus = bus
    }

    deinit { ykit_bus_free(bus) }

    func notify(_ title: String, _ body: String, actions: [String], milliseconds: Int32) -> UInt32? {
        let words = actions.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let number = ykit_bus_notify(bus, title, body, words.map { UnsafePointer($0) }, milliseconds)
        return number == 0 ? nil : number
    }

    func close(_ number: UInt32) { ykit_bus_close_notification(bus, number) }

    func watch() -> Bool { ykit_bus_watch(bus) == 0 }

    private final class Listener {
        let pressed: (UInt32, String) -> Void

        init(_ pressed: @escaping (UInt32, String) -> Void) { self.pressed = pressed }
    }

    func listen(_ pressed: @escaping @Sendable (_ number: UInt32, _ action: String) -> Void) {
        let listener = Listener(pressed)
        withExtendedLifetime(listener) {
            ykit_bus_listen(
                bus,
                { number, action, context in
                    guard let action, let context else { return }
                    let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
                    listener.pressed(number, String(cString: action))
                }, Unmanaged.passUnretained(listener).toOpaque())
        }
    }

    func end() { ykit_bus_end(bus) }

    /// Whether the screen of this process's session is locked; `nil` if unknown.
    func isLocked() -> Bool? {
        let answer = ykit_bus_is_locked(bus)
        return answer < 0 ? nil : answer == 1
    }
}
