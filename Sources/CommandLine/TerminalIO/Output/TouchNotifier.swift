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
    ) throws(DesktopError) -> TouchNotifier? {
        let means: Means
        switch isOnDesktop ? "desktop" : terminal.stage.variables["YKIT_NOTIFY"] ?? "" {
        case "": return nil
        case "desktop": means = .desktop(try DesktopNotifications(.current))
        case let command: means = .command(command)
        }
        return TouchNotifier(means, cancellation: terminal.stage.environment.cancellation) { error in
            terminal.warnNow(Explanation(error).message)
        }
    }
}

extension Terminal {
    /// Has touches announced as `--notify` or YKIT_NOTIFY say.
    package func notifyIfWanted(isOnDesktop: Bool) throws(DesktopError) {
        notify(by: try TouchNotifier.wanted(isOnDesktop, self))
    }
}
