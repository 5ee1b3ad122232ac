// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc

/// Takes the node of a key away from the programs of this machine, and gives it back: the node is moved into a folder
/// that only one user and root may enter, and keeps its owner, mode and access list. Programs find keys by their names in
/// /dev, so they no longer find this one; a program that has it open keeps it.
///
/// The kernel removes the node of an unplugged device by its name, so that a moved one has to be removed here.
package struct TakenNodes: Sendable {
    /// The folder of the nodes that were taken, in the file system of `/dev`, so that they can be moved.
    package static let folder = "/dev/ykit-guard"

    /// Why a node was not taken: the operation that failed, and the error number.
    package struct Failure: Error, Hashable, Sendable {
        /// The path of the node or folder.
        package let path: String
        /// The error number.
        package let number: Int32
    }

    private let devices: String
    private let system: String
    /// What a node is: a character device, in tests something that needs no root.
    private let kind: mode_t
    private var folder: String { devices + "/ykit-guard" }

    /// - Parameters:
    ///   - devices: The folder of the nodes.
    ///   - system: The path of sysfs.
    package init(devices: String = "/dev", system: String = "/sys") {
        self.init(devices: devices, system: system, kind: S_IFCHR)
    }

    init(devices: String, system: String, kind: mode_t) {
        (self.devices, self.system, self.kind) = (devices, system, kind)
    }

    /// Where the node of a path is after it was taken, or after it was given back; `nil` for other paths.
    static func otherPath(of path: String) -> String? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return switch path {
        case "/dev/\(name)": "\(folder)/\(name)"
        case "\(folder)/\(name)": "/dev/\(name)"
        default: nil
        }
    }

    /// Takes a node; requires root.
    ///
    /// - Parameters:
    ///   - name: Its name, such as `hidraw3`.
    ///   - user: The number of the only user, besides root, that may open it now.
    /// - Returns: Its path now.
    package func take(_ name: String, for user: UInt32) throws(Failure) -> String {
        try prepare(user)
        let (from, to) = ("\(devices)/\(name)", "\(folder)/\(name)")
        guard isNode(from), rename(from, to) == 0 else { throw Failure(path: from, number: errno) }
        return to
    }

    /// Gives back all nodes that were taken; those of devices that were unplugged are removed.
    ///
    /// - Returns: The names of those given back.
    @discardableResult package func giveBack() -> [String] {
        // What the folder's owner could have been made to put there is not moved: only nodes of devices.
        let names = SystemFile.names(in: folder).filter { name in
            let (from, to) = ("\(folder)/\(name)", "\(devices)/\(name)")
            guard isNode(from), isAttached(name, from), access(to, F_OK) != 0, rename(from, to) == 0 else {
                unlink(from)
                return false
            }
            applyRules(name)
            return true
        }
        rmdir(folder)
        return names
    }

    /// The folder, which the user may enter but not read.
    private func prepare(_ user: UInt32) throws(Failure) {
        var info = stat()
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST, lstat(folder, &info) == 0 else {
            throw Failure(path: folder, number: errno)
        }
        guard info.st_mode & S_IFMT == S_IFDIR, info.st_uid == geteuid() else {
            throw Failure(path: folder, number: EEXIST)
        }
        let list = AccessList([
            .init(.owner, 7), .init(.user(user), 1), .init(.group, 0), .init(.mask, 1), .init(.others, 0),
        ]).encoded
        guard user == geteuid() || ykit_set_access_list(folder, list, list.count) == 0 else {
            throw Failure(path: folder, number: errno)
        }
    }

    private func isNode(_ path: String) -> Bool {
        var info = stat()
        guard lstat(path, &info) == 0 else { return false }
        if info.st_mode & S_IFMT == kind { return true }
        errno = ENODEV
        return false
    }

    /// Whether the device of a node is still there.
    private func isAttached(_ name: String, _ path: String) -> Bool {
        guard let number = SystemFile.text("\(system)/class/hidraw/\(name)/dev"), let node = FileStatus(path)?.device
        else { return false }
        return number.split(separator: "\n").first.map(String.init) == "\(node.major):\(node.minor)"
    }

    /// Has udev apply its rules to a node, for what changed while it was taken, such as who is at the machine.
    private func applyRules(_ name: String) {
        let file = open("\(system)/class/hidraw/\(name)/uevent", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, "change", 6)
        close(file)
    }
}
