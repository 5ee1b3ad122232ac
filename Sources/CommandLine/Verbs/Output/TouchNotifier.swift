// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKDesktop

extension TouchNotifier {
    /// Returns the notifier chosen by `--notify` or YKIT_NOTIFY: `desktop`, or a shell command; `nil` without either.
    ///
    /// - Throws: `no-desktop` or `no-libsystemd`.
    package static func wanted(_ options: GlobalOptions) throws(Explanation) -> TouchNotifier? {
        let means: Means
        switch options.notify ? "desktop" : Variables["YKIT_NOTIFY"] ?? "" {
        case "": return nil
        case "desktop": means = .desktop(try DesktopNotifications.found())
        case let command: means = .command(command)
        }
        return TouchNotifier(means, cancellation: Interruption.cancellation) { error in
            Terminal().warnNow(Explanation(error).message)
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
