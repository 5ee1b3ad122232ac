// SPDX-License-Identifier: Apache-2.0

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
