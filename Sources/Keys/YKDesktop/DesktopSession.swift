// SPDX-License-Identifier: Apache-2.0

public import YKHardware

/// The desktop session that a program runs in (XDG Base Directory and D-Bus specifications).
public struct DesktopSession: Hashable, Sendable {
    /// Whether there is a session bus (DBUS_SESSION_BUS_ADDRESS).
    public var hasBus: Bool
    /// Whether there is a Wayland display (WAYLAND_DISPLAY).
    public var hasWayland: Bool
    /// Whether there is an X11 display (DISPLAY).
    public var hasX11: Bool

    /// Whether a program can open a window.
    public var isGraphical: Bool { hasWayland || hasX11 }

    /// Describes a session by its environment.
    ///
    /// - Parameter variable: Returns the value of an environment variable; `nil` if it is not set.
    public init(variable: (_ name: String) -> String?) {
        hasBus = variable("DBUS_SESSION_BUS_ADDRESS") != nil
        hasWayland = variable("WAYLAND_DISPLAY") != nil
        hasX11 = variable("DISPLAY") != nil
    }
}

/// Why a request to the desktop failed.
public enum DesktopError: Error, Hashable, Sendable {
    /// There is no desktop session.
    case noSession
    /// The library that communicates with the desktop is not installed.
    case notInstalled(library: String)
    /// There is no clipboard: neither wl-copy in a Wayland session nor xclip in an X11 session.
    case noClipboard
    /// The program could not reach the clipboard.
    case clipboardUnreachable(program: String)
    /// The desktop did not accept a notification.
    case notificationRefused
    /// A command failed with this exit status.
    case command(status: Int32)
    /// A program could not be run.
    case program(ProgramError)
    /// The system has no thread left.
    case noThread
}
