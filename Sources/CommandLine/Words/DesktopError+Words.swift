// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKDesktop

extension DesktopError: Explained {
    package var explanation: Explanation {
        switch self {
        case .noSession:
            Explanation(
                "no-desktop", .failed, "there is no desktop session to notify",
                hint: "omit --notify and YKIT_NOTIFY, or start ykit in a session, as a unit of 'systemctl --user'")
        case .notInstalled(let library):
            Explanation(
                "no-libsystemd", .failed, "\(library), which connects to the desktop, is not installed",
                hint: "sudo apt install libsystemd0")
        case .noClipboard:
            Explanation(
                "no-clipboard", .failed,
                "no clipboard: neither wl-copy in a Wayland session nor xclip in an X session",
                hint: "sudo apt install wl-clipboard xclip")
        case .clipboardUnreachable(let program):
            Explanation(
                "clipboard", .failed, "\(program) could not reach the clipboard",
                hint: "run this in the desktop session")
        case .notificationRefused: Explanation("failed", .failed, "the desktop refused the notification")
        case .command(let status):
            Explanation("failed", .failed, "the command of YKIT_NOTIFY failed with status \(status)")
        case .program(let error): error.explanation
        case .noThread: Explanation("failed", .failed, "cannot start a thread for the notifications")
        }
    }
}
