// SPDX-License-Identifier: Apache-2.0

package import YKDesktop
import YKInteraction
import YKTransport

extension TouchNotifier {
    /// Returns the notifier chosen by `--notify` or YKIT_NOTIFY: `desktop`, or a shell command; `nil` without either.
    ///
    /// - Parameter isOnDesktop: Whether `--notify` is given.
    /// - Throws: `no-desktop` or `no-libsystemd`.
    fileprivate static func wanted(
        _ isOnDesktop: Bool, _ terminal: Terminal
    ) throws(Explanation) -> TouchNotifier? {
        let means: Means
        switch isOnDesktop ? "desktop" : terminal.stage.variables["YKIT_NOTIFY"] ?? "" {
        case "": return nil
        case "desktop": means = .desktop(try DesktopNotifications.found())
        case let command: means = .command(command)
        }
        return TouchNotifier(means, cancellation: terminal.stage.environment.cancellation) { error in
            terminal.warnNow(Explanation(error).message)
        }
    }
}

extension DesktopNotifications {
    /// The notifications of this process's session.
    package static func found() throws(Explanation) -> DesktopNotifications {
        do { return try DesktopNotifications(.current) } catch {
            throw Explanation(error)
        }
    }
}

extension Terminal {
    /// Has touches announced as `--notify` or YKIT_NOTIFY say.
    package func notifyIfWanted(isOnDesktop: Bool) throws(Explanation) {
        notify(by: try TouchNotifier.wanted(isOnDesktop, self))
    }
}
