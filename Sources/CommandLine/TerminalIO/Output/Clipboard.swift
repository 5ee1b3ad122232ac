// SPDX-License-Identifier: Apache-2.0

package import YKDesktop
import YKHardware
package import YKInteraction
import YKTransport

extension Stage {
    /// The desktop session of the run.
    package var desktop: DesktopSession { DesktopSession { variables[$0] } }

    /// The clipboard of the session, until ^C.
    package func clipboard() throws(DesktopError) -> Clipboard {
        try Clipboard(desktop, cancellation: environment.cancellation)
    }

    /// Copies a text to the clipboard, and starts a process that clears it after a time, unless the clipboard holds
    /// something else by then.
    package func copy(_ text: String, for seconds: Int64) throws {
        try clipboard().put(text)
        try ChildProcess.detach(
            "/proc/self/exe", ["clear-clipboard", "--after", String(seconds)], input: Array(text.utf8))
    }
}

extension Terminal {
    /// Announces touches as `--notify` or YKIT_NOTIFY says: on the desktop, or by a shell command.
    ///
    /// - Parameter isOnDesktop: Whether `--notify` is given.
    /// - Throws: `no-desktop` or `no-libsystemd`.
    package func notifyIfWanted(isOnDesktop: Bool) throws(DesktopError) {
        let means: TouchNotifier.Means
        switch isOnDesktop ? "desktop" : stage.variables["YKIT_NOTIFY"] ?? "" {
        case "": return
        case "desktop": means = .desktop(try DesktopNotifications(stage.desktop))
        case let command: means = .command(command)
        }
        notify(
            by: TouchNotifier(means, cancellation: stage.environment.cancellation) { error in
                warnNow(Explanation(error).message)
            })
    }
}
