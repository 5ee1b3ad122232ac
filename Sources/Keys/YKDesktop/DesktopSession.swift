// SPDX-License-Identifier: Apache-2.0

public import YKHardware
import YKWire

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

/// The kernel's information about batteries and mains (Documentation/ABI/testing/sysfs-class-power).
public enum PowerSupply {
    /// Whether a battery is discharging and no other supply is connected; `false` if the kernel does not report it.
    ///
    /// - Parameter folder: The kernel's folder of power supplies.
    public static func isOnBattery(_ folder: String = "/sys/class/power_supply") -> Bool {
        var isDischarging = false
        for name in SystemFile.names(in: folder) {
            func value(_ file: String) -> String? { SystemFile.text("\(folder)/\(name)/\(file)")?.trimmed }
            // Batteries of mice and headsets have the scope Device.
            guard value("scope") != "Device" else { continue }
            switch value("type") {
            case "Battery"?: if value("status") == "Discharging" { isDischarging = true }
            case nil: continue
            default: if value("online") == "1" { return false }
            }
        }
        return isDischarging
    }
}

/// Whether the screen is locked, according to logind (LockedHint).
public struct ScreenLock: Sendable {
    private let query: @Sendable () -> Bool?
    private var next = ContinuousClock.now
    private var isKnownLocked = false
    private var isSilent = false
    /// How long an answer is cached.
    private static let patience = Duration.seconds(1)

    /// Watches the screen of this process's session.
    public init() {
        let bus = MessageBus(isOfSystem: true)
        self.init { bus?.isLocked() }
    }

    /// Watches what a function says: `nil` if unknown.
    init(_ query: @escaping @Sendable () -> Bool?) { self.query = query }

    /// Queries logind, at most once a second, and not again if it does not answer.
    ///
    /// - Returns: `false` if unknown.
    public mutating func isLocked() -> Bool {
        guard !isSilent else { return false }
        guard next <= .now else { return isKnownLocked }
        next = .now + Self.patience
        guard let isLocked = query() else {
            isSilent = true
            return false
        }
        isKnownLocked = isLocked
        return isLocked
    }
}
