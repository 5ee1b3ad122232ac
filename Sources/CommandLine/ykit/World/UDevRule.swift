// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware

/// What the rule that comes with ykit has done for a device node (udev(7), sd-login(3)).
enum UDevRule: Hashable {
    /// It is not on this machine.
    case missing
    /// It is, but the udev daemon has not applied it to the node.
    case notApplied
    /// It gives the node to whoever sits at this machine, and to its group.
    case applied

    /// The name of the file.
    static let file = "70-ykit.rules"
    /// Where an administrator puts it.
    static let folder = "/etc/udev/rules.d/"
    /// The group that may use the nodes without sitting at the machine.
    static let group = "plugdev"

    /// Looks at the files of udev below `root`.
    init(for node: String, root: String = "") {
        if let (major, minor) = FileStatus(node)?.device {
            if access("\(root)/run/udev/tags/uaccess/c\(major):\(minor)", F_OK) == 0 {
                self = .applied
                return
            }
        }
        let folders = ["/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"]
        let isThere = folders.contains { access("\(root)\($0)/udev/rules.d/\(Self.file)", F_OK) == 0 }
        self = isThere ? .notApplied : .missing
    }
}
