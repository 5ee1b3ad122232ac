// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What kind of surroundings this program runs in, where that keeps keys away.
package enum MachineKind: String, Sendable, Hashable {
    /// A machine, or a virtual one that looks like it.
    case plain
    /// A container (Docker, Podman, LXC).
    case container
    /// Windows Subsystem for Linux.
    case wsl
    /// A Flatpak sandbox.
    case flatpak
    /// A snap.
    case snap

    /// Looks at the marks that each leaves, below `root`.
    package static func find(
        root: String = "", variable: (String) -> String? = { getenv($0).map { String(cString: $0) } }
    )
        -> MachineKind
    {
        func isThere(_ path: String) -> Bool { access("\(root)\(path)", F_OK) == 0 }
        if isThere("/.flatpak-info") { return .flatpak }
        if variable("SNAP") != nil { return .snap }
        let release = SystemFile.text("\(root)/proc/sys/kernel/osrelease")?.lowercased() ?? ""
        if release.contains("microsoft") { return .wsl }
        let isContained = isThere("/.dockerenv") || isThere("/run/.containerenv") || variable("container") != nil
        return isContained ? .container : .plain
    }
}
