// SPDX-License-Identifier: Apache-2.0

package import YKHardware
public import YKTransport
import YKWire

/// Notifications of the desktop (org.freedesktop.Notifications), through gdbus.
public struct DesktopNotifications: Sendable {
    private let gdbus: String
    private let programs: ProgramRunner

    private static let name = "org.freedesktop.Notifications"
    /// The arguments that name the service to gdbus.
    private static let service = ["--dest", name, "--object-path", "/org/freedesktop/Notifications"]
    /// The timeout for gdbus.
    private static let limit = Duration.seconds(6)

    /// Finds the notification service of a session.
    ///
    /// - Throws: `noSession` without a session bus, `notInstalled` without gdbus.
    public init(_ session: DesktopSession, cancellation: Cancellation = Cancellation()) throws(DesktopError) {
        try self.init(session, .system(cancellation, limit: Self.limit))
    }

    package init(_ session: DesktopSession, _ programs: ProgramRunner) throws(DesktopError) {
        guard session.hasBus else { throw .noSession }
        guard let gdbus = programs.find("gdbus") else { throw .notInstalled(program: "gdbus") }
        (self.gdbus, self.programs) = (gdbus, programs)
    }

    /// Shows a notification.
    ///
    /// - Parameters:
    ///   - lines: The text below the title, without markup.
    ///   - actions: The names and labels of the buttons.
    ///   - milliseconds: The time until it expires; 0 if it never does.
    /// - Returns: Its number; `nil` if the desktop did not accept it.
    public func show(
        _ title: String, _ lines: [String], actions: [(name: String, label: String)] = [], milliseconds: Int
    ) -> UInt32? {
        let body = lines.map(Self.escaped).joined(separator: "\n")
        let words = actions.flatMap { [Self.quoted($0.name), Self.quoted($0.label)] }.listed()
        let result = call(
            "Notify",
            [
                Self.quoted("ykit"), "0", Self.quoted("dialog-password"), Self.quoted(title), Self.quoted(body),
                actions.isEmpty ? "@as []" : "[\(words)]", "{'urgency': <byte 2>}", String(milliseconds),
            ])
        // (uint32 7,)
        let digits = String(decoding: result?.output ?? [], as: UTF8.self).split(separator: " ").last?
            .prefix { $0.isNumber }
        return result?.status == 0 ? digits.flatMap { UInt32($0) } : nil
    }

    /// Closes a notification.
    public func close(_ number: UInt32) { _ = call("CloseNotification", ["\(number)"]) }

    private func call(_ method: String, _ arguments: [String]) -> ChildProcess.Ending? {
        let head = ["call", "--session"] + Self.service
        let method = ["--timeout", "5", "--method", "\(Self.name).\(method)"]
        return try? programs.run(gdbus, head + method + arguments, [], [:])
    }

    /// Starts to monitor the signals of the service.
    func monitor() throws(DesktopError) -> ChildProcess.Stream {
        do { return try ChildProcess.stream(gdbus, ["monitor", "--session"] + Self.service) } catch {
            throw .program(error)
        }
    }

    /// A line of the monitor.
    enum Signal: Hashable {
        /// The monitor is connected; no signal is missed from now on.
        case connected
        /// A button was pressed.
        case action(number: UInt32, name: String)

        /// Reads a line:
        ///
        ///     The name org.freedesktop.Notifications is owned by :1.5
        ///     /org/freedesktop/Notifications: org.freedesktop.Notifications.ActionInvoked (uint32 7, 'decline')
        init?(_ line: String) {
            if line.hasPrefix("The name ") {
                self = .connected
                return
            }
            guard let start = line.firstRange(of: ".ActionInvoked (uint32 ") else { return nil }
            let parts = line[start.upperBound...].split(separator: ",", maxSplits: 1)
            guard parts.count == 2, let number = UInt32(parts[0]) else { return nil }
            self = .action(number: number, name: parts[1].filter { $0.isLetter })
        }
    }

    /// Quotes a text for GVariant, so that text from a server is never parsed as anything else.
    static func quoted(_ text: String) -> String {
        var out = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'", "\\": out += "\\\(scalar)"
            case "\n": out += "\\n"
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + "'"
    }

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
