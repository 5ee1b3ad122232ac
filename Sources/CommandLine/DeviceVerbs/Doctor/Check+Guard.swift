// SPDX-License-Identifier: Apache-2.0

import Glibc
import TerminalIO
import YKBridge
import YKDesktop
import YKHardware
import YKTransport
import YKWire

/// What `ykit guard` needs on this machine.
struct GuardParts {
    /// Whether a system part listens.
    var listens = false
    /// Whether the user's service is enabled.
    var isEnabled = false
    /// Whether devices can be created.
    var hasUHID = false
    /// Whether the lock of the screen is known.
    var hasBus = false
    /// Whether programs of the desktop are installed: the PIN's window, and a list of accounts.
    var (hasPinentry, hasList) = (false, false)
    /// Browsers that are snaps, which do not see the guard.
    var snaps: [String] = []
    /// Whether the package's services are installed.
    var hasUnits = false

    /// The parts of this machine, for a user's home.
    ///
    /// - Parameter root: The root of the file system.
    static func find(home: String?, root: String = "") -> GuardParts {
        func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }
        let programs = ProgramRunner.system(Cancellation(), limit: .seconds(1), hasTerminal: false)
        let unit = "systemd/user/graphical-session.target.wants/ykit-guard.service"
        return GuardParts(
            listens: exists(GuardSystem.path),
            isEnabled: exists("/etc/\(unit)") || home.map { access("\($0)/.config/\(unit)", F_OK) == 0 } ?? false,
            hasUHID: exists("/dev/uhid"), hasBus: SessionWatch.isAvailable,
            hasPinentry: PromptProgram.pinentry(programs) { _ in nil } != nil,
            hasList: programs.find("zenity") != nil || programs.find("kdialog") != nil,
            snaps: SnapBrowsers.blind(root: root),
            hasUnits: ["/usr/lib", "/usr/local/lib"].contains { folder in
                ["system/ykit-guard.socket", "user/ykit-guard.service"].allSatisfy { exists("\(folder)/systemd/\($0)") }
            })
    }
}

extension Check {
    /// What is missing for a guard that is installed or runs; empty without one.
    static func `guard`(_ parts: GuardParts) -> [Check] {
        guard parts.listens || parts.isEnabled else { return [] }
        var checks: [Check] = []
        if !parts.listens {
            checks.append(
                Check(
                    "guard", .bad, "the guard's system part does not run, so programs use the key itself",
                    remedy: "sudo systemctl enable --now ykit-guard.socket"))
        }
        if !parts.hasUHID {
            checks.append(
                Check(
                    "guard", .bad, "the guard cannot create its device: /dev/uhid is missing",
                    remedy: "sudo modprobe uhid"))
        }
        if parts.isEnabled {
            if !parts.hasPinentry {
                checks.append(
                    Check(
                        "guard", .bad, "the guard cannot ask for a PIN on the desktop: pinentry is not installed",
                        remedy: "sudo apt install pinentry-gnome3, or pinentry-qt"))
            }
            if !parts.hasList {
                checks.append(
                    Check(
                        "guard", .note,
                        "the guard cannot ask which account is meant: neither zenity nor kdialog is installed",
                        remedy: "sudo apt install zenity, or kdialog"))
            }
        }
        if !parts.hasBus {
            checks.append(
                Check(
                    "guard", .note, "the guard does not learn that the screen is locked: libsystemd is not installed",
                    remedy: "sudo apt install libsystemd0"))
        }
        if !parts.snaps.isEmpty {
            checks.append(
                Check(
                    "guard", .note,
                    "\(parts.snaps.listed()) is a snap, which does not see the guard's device: the key is not taken",
                    remedy: "install the browser as a package, or start the system part with --as-key"))
        }
        return checks.isEmpty ? [Check("guard", .good, "the guard has all that it needs")] : checks
    }
}
