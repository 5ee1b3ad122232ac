// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kind of environment that this program runs in, as far as it affects access to keys.
public enum MachineKind: String, Sendable, Hashable {
    /// A physical machine, or a virtual one that looks like it.
    case plain
    /// A container (Docker, Podman, LXC, systemd-nspawn, Kubernetes).
    case container
    /// Windows Subsystem for Linux.
    case wsl
    /// A Flatpak sandbox.
    case flatpak
    /// A snap.
    case snap

    /// Reads an environment variable.
    package typealias Variables = (String) -> String?

    /// Detects the environment by its characteristic files below `root`.
    package static func find(root: String = "", variable: Variables = environment) -> MachineKind {
        func isThere(_ path: String) -> Bool { access("\(root)\(path)", F_OK) == 0 }
        if isThere("/.flatpak-info") { return .flatpak }
        if isInSnap(root, variable) { return .snap }
        let marks = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container", "/run/host/container-manager"]
        if marks.contains(where: isThere) || variable("container") != nil || variable("KUBERNETES_SERVICE_HOST") != nil
        {
            return .container
        }
        let release = SystemFile.text("\(root)/proc/sys/kernel/osrelease")?.lowercased() ?? ""
        return release.contains("microsoft") ? .wsl : .plain
    }

    /// Whether the program is part of a snap or confined by one. A terminal in a snap hands its variables to every
    /// program that is started in it.
    private static func isInSnap(_ root: String, _ variable: Variables) -> Bool {
        guard let folder = variable("SNAP"), !folder.isEmpty else { return false }
        let label = SystemFile.text("\(root)/proc/self/attr/current") ?? ""
        return program(root).hasPrefix(folder + "/") || label.hasPrefix("snap.") && label.contains("(enforce)")
    }

    /// The path of this program; empty if unknown.
    private static func program(_ root: String) -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard readlink("\(root)/proc/self/exe", &path, path.count - 1) > 0 else { return "" }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The application's name in `flatpak` or `snap`, if it is one.
    package static func application(root: String = "", variable: Variables = environment) -> String? {
        if isInSnap(root, variable), let snap = variable("SNAP_NAME") { return snap }
        let lines = SystemFile.text("\(root)/.flatpak-info")?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("name=") }.map { String($0.dropFirst(5)) }
    }

    /// The environment of this process.
    package static let environment: @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }
}
