// SPDX-License-Identifier: Apache-2.0

package import YKDesktop
import YKHardware

extension DesktopSession {
    /// The session that this process runs in.
    package static var current: DesktopSession { DesktopSession { Variables[$0] } }
}

extension Clipboard {
    /// The clipboard of the session, until ^C.
    package static func current() throws(DesktopError) -> Clipboard {
        try Clipboard(.current, cancellation: Interruption.cancellation)
    }

    /// Copies a text to the clipboard, and starts a process that clears it after a time, unless the clipboard holds
    /// something else by then.
    package static func put(_ text: String, for seconds: Int64) throws {
        try current().put(text)
        try ChildProcess.detach(
            "/proc/self/exe", ["clear-clipboard", "--after", String(seconds)], input: Array(text.utf8))
    }
}
