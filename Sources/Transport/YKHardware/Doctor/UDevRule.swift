// SPDX-License-Identifier: Apache-2.0

import Glibc

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
