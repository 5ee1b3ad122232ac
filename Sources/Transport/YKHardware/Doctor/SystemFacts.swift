// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport

/// Facts about this machine: kernel, distribution, and udev rules for keys.
package struct SystemFacts: Sendable, Hashable {
    /// Name and release of the kernel.
    package var kernel: String
    /// The name of the distribution.
    package var distribution: String
    /// The names of the udev rules files for security keys.
    package var rules: [String]

    /// Reads the files below `root`.
    package static func find(root: String = "") -> SystemFacts {
        let release = SystemFile.text("\(root)/proc/sys/kernel/osrelease")?.prefix { $0 != "\n" } ?? "?"
        let facts = HIDDevice.variables(
            SystemFile.text("\(root)/etc/os-release") ?? SystemFile.text("\(root)/usr/lib/os-release") ?? "")
        let name = facts["PRETTY_NAME"] ?? facts["ID"] ?? "?"
        return SystemFacts(
            kernel: "Linux \(release)", distribution: name.filter { $0 != "\"" }, rules: rules(root))
    }

    private static let words = [
        "u2f", "fido", "yubi", "ykit", "nitrokey", "canokey", "solo", "token", "onlykey", "uaccess",
    ]

    private static func rules(_ root: String) -> [String] {
        let folders = ["/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d"]
        return folders.flatMap { folder in
            SystemFile.names(in: "\(root)\(folder)").sorted().filter { name in
                name.hasSuffix(".rules") && words.contains { name.lowercased().contains($0) }
            }.map { "\(folder)/\($0)" }
        }
    }
}

/// The permissions of a device node, and the programs that have it open.
public struct NodeFacts: Sendable, Hashable {
    /// The permissions, as in `crw-rw----`.
    public var permissions: String
    /// The name of its owner, or the number of one without a name.
    public var owner: String
    /// The name of its group, or the number of one without a name.
    public var group: String
    /// The users in its access list, to which logind adds the user at the machine.
    public var listed: [String]
    /// The programs that have it open, as far as visible to this user.
    public var holders: [LinkError.Holder]

    /// Creates facts.
    public init(
        permissions: String = "crw-------", owner: String = "root", group: String = "root", listed: [String] = [],
        holders: [LinkError.Holder] = []
    ) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.listed = listed
        self.holders = holders
    }

    /// Examines a node; `nil` when there is none.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        let letters = Array("rwxrwxrwx")
        let bits = (0..<9).map { info.st_mode & (0o400 >> UInt32($0)) != 0 ? letters[$0] : "-" }
        permissions = "c" + String(bits)
        owner = Accounts.user(info.st_uid)
        group = Accounts.group(info.st_gid)
        listed = AccessList(of: path)?.users.map(Accounts.user) ?? []
        holders = Processes.holders(of: path)
    }
}

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

    /// Detects the environment by its characteristic files below `root`.
    package static func find(
        root: String = "", variable: (String) -> String? = { ProcessVariables[$0] }
    ) -> MachineKind {
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
    private static func isInSnap(_ root: String, _ variable: (String) -> String?) -> Bool {
        guard let folder = variable("SNAP") else { return false }
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
    package static func application(
        root: String = "", variable: (String) -> String? = { ProcessVariables[$0] }
    ) -> String? {
        if isInSnap(root, variable), let snap = variable("SNAP_NAME") { return snap }
        let lines = SystemFile.text("\(root)/.flatpak-info")?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("name=") }.map { String($0.dropFirst(5)) }
    }
}

/// The effect of ykit's udev rule on a device node (udev(7), sd-login(3)).
public enum UDevRule: Error, Hashable, Sendable {
    /// The rule is not installed.
    case missing
    /// The rule is installed, but the udev daemon has not applied it to the node.
    case notApplied
    /// The rule gives access to the user of the local session and to the group.
    case applied

    /// The file name of the rule.
    package static let file = "70-ykit.rules"
    /// The folder for rules of the administrator.
    package static let folder = "/etc/udev/rules.d/"
    /// The group that has access to the nodes without a local session.
    package static let group = "plugdev"

    /// Reads the udev files below `root`.
    package init(for node: String, root: String = "") {
        if let device = FileStatus(node)?.device,
            access("\(root)/run/udev/tags/uaccess/c\(device.major):\(device.minor)", F_OK) == 0
        {
            self = .applied
            return
        }
        let folders = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"]
        let isThere = folders.contains { access("\(root)\($0)/udev/rules.d/\(Self.file)", F_OK) == 0 }
        self = isThere ? .notApplied : .missing
    }
}
