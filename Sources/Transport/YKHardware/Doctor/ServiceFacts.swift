// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The state of pcscd as seen from outside: whether it is installed, what starts it, and what may keep it from working.
package struct ServiceFacts: Sendable, Hashable {
    /// The state of a systemd unit.
    package enum Unit: Sendable, Hashable {
        /// There is no such unit, or no systemd.
        case missing
        /// The unit is masked.
        case masked
        /// The unit exists, but nothing starts it.
        case disabled
        /// The unit is started at boot.
        case enabled
    }

    /// The path of the program.
    package var program: String?
    /// Whether systemd manages services here.
    package var hasSystemd: Bool
    /// The state of the socket unit and of the service unit.
    package var socket: Unit
    package var service: Unit
    /// The path of the socket, and whether it exists.
    package var path: String
    package var hasSocket: Bool
    /// The version of the protocol that the daemon speaks.
    package var protocolVersion: String?
    /// Whether the driver for USB readers is installed; `nil` when unknown, as in a container.
    package var hasDriver: Bool?
    /// Whether /proc hides other users' processes, which keeps polkit from identifying the caller.
    package var hidesProcesses: Bool

    package init(
        program: String? = "/usr/sbin/pcscd", hasSystemd: Bool = true, socket: Unit = .enabled,
        service: Unit = .disabled, path: String = "/run/pcscd/pcscd.comm", hasSocket: Bool = true,
        protocolVersion: String? = nil, hasDriver: Bool? = nil, hidesProcesses: Bool = false
    ) {
        self.program = program
        self.hasSystemd = hasSystemd
        self.socket = socket
        self.service = service
        self.path = path
        self.hasSocket = hasSocket
        self.protocolVersion = protocolVersion
        self.hasDriver = hasDriver
        self.hidesProcesses = hidesProcesses
    }

    /// Examines the files below `root`, and queries the daemon's version.
    package static func find(root: String = "", socket path: String? = nil) -> ServiceFacts {
        let path = path ?? PCSCService.usualSocketPath
        let program = ServiceProbe.program
        return ServiceFacts(
            program: program, hasSystemd: isThere("\(root)/run/systemd/system"), socket: unit("pcscd.socket", root),
            service: unit("pcscd.service", root), path: path, hasSocket: isThere(path),
            protocolVersion: ServiceProbe.protocolVersion(path), hasDriver: program.map { _ in hasDriver(root) },
            hidesProcesses: hidesProcesses(SystemFile.text("\(root)/proc/self/mounts", limit: 1 << 20) ?? ""))
    }

    private static let unitFolders = [
        "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
        "/lib/systemd/system",
    ]

    /// The state of a unit, from the first of systemd's folders that contains it (systemd.unit(5)).
    static func unit(_ name: String, _ root: String) -> Unit {
        guard let file = unitFolders.map({ "\(root)\($0)/\(name)" }).first(where: hasEntry) else { return .missing }
        if SystemFile.target(file) == "/dev/null" || SystemFile.bytes(file)?.isEmpty == true { return .masked }
        let wanted = ["sockets.target.wants", "multi-user.target.wants"].contains { folder in
            hasEntry("\(root)/etc/systemd/system/\(folder)/\(name)")
        }
        return wanted ? .enabled : .disabled
    }

    /// Whether libccid is in one of pcscd's driver folders.
    private static func hasDriver(_ root: String) -> Bool {
        ["/usr/lib/pcsc/drivers", "/usr/lib64/pcsc/drivers", "/usr/lib/pcsc-drivers", "/usr/local/lib/pcsc/drivers"]
            .contains { isThere("\(root)\($0)/ifd-ccid.bundle") }
    }

    /// Parses rows such as `proc /proc proc rw,hidepid=invisible 0 0` (proc(5)).
    static func hidesProcesses(_ mounts: String) -> Bool {
        mounts.split(separator: "\n").contains { row in
            let words = row.split(separator: " ")
            guard words.count > 3, words[1] == "/proc" else { return false }
            return words[3].split(separator: ",").contains { option in
                option.hasPrefix("hidepid=") && option != "hidepid=0" && option != "hidepid=off"
            }
        }
    }

    private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Whether the path exists; a dangling link counts too.
    private static func hasEntry(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0
    }
}
