// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

/// Desktop notifications (org.freedesktop.Notifications), through gdbus.
enum DesktopNotification {
    /// The arguments that name the service to gdbus.
    static let service = [
        "--dest", "org.freedesktop.Notifications", "--object-path", "/org/freedesktop/Notifications",
    ]

    /// Returns the path of gdbus.
    ///
    /// - Throws: `no-desktop` outside a session, `no-gdbus` if it is not installed.
    static func tool() throws(Explanation) -> String {
        guard Variables["DBUS_SESSION_BUS_ADDRESS"] != nil else {
            throw Explanation(
                "no-desktop", .failed, "there is no desktop session to notify",
                hint: "omit --notify and YKIT_NOTIFY, or start ykit in a session, as a unit of 'systemctl --user'")
        }
        guard let tool = Spawn.find("gdbus") else {
            throw Explanation(
                "no-gdbus", .failed, "gdbus, which talks to the desktop, is not installed",
                hint: "sudo apt install libglib2.0-bin")
        }
        return tool
    }

    /// Shows a notification.
    ///
    /// - Parameters:
    ///   - actions: The names and labels of the buttons.
    ///   - milliseconds: The time until it expires; 0 if it never does.
    /// - Returns: Its number; `nil` if the desktop did not accept it.
    static func show(
        _ title: String, _ lines: [String], actions: [(name: String, label: String)] = [], milliseconds: Int,
        with tool: String
    ) -> UInt32? {
        let body = lines.map(escaped).joined(separator: "\n")
        let words = actions.flatMap { [quoted($0.name), quoted($0.label)] }.listed()
        let result = call(
            "Notify",
            [
                quoted("ykit"), "0", quoted("dialog-password"), quoted(title), quoted(body),
                actions.isEmpty ? "@as []" : "[\(words)]", "{'urgency': <byte 2>}", String(milliseconds),
            ], with: tool)
        // (uint32 7,)
        let digits = String(decoding: result?.output ?? [], as: UTF8.self).split(separator: " ").last?
            .prefix { $0.isNumber }
        return result?.status == 0 ? digits.flatMap { UInt32($0) } : nil
    }

    /// Closes a notification.
    static func close(_ number: UInt32, with tool: String) { _ = call("CloseNotification", ["\(number)"], with: tool) }

    private static func call(_ method: String, _ arguments: [String], with tool: String) -> ChildProcess.Ending? {
        let head = ["call", "--session"] + service
        let method = ["--timeout", "5", "--method", "org.freedesktop.Notifications.\(method)"]
        return try? Spawn.run(tool, head + method + arguments, within: .seconds(6))
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
