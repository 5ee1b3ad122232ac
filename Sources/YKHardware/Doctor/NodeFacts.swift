// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc
package import YKTransport

/// What is known of a device node: who may open it, and who has it open.
package struct NodeFacts: Sendable, Hashable {
    /// The permissions, as in `crw-rw----`.
    package var permissions: String
    /// The numbers of its owner and group.
    package var owner: UInt32
    package var group: UInt32
    /// Whether it has an access control list, as logind gives it to who sits at the machine.
    package var hasList: Bool
    /// The programs that have it open.
    package var holders: [LinkError.Holder]

    package init(
        permissions: String, owner: UInt32, group: UInt32, hasList: Bool, holders: [LinkError.Holder]
    ) {
        self.permissions = permissions
        self.owner = owner
        self.group = group
        self.hasList = hasList
        self.holders = holders
    }

    /// Looks at a node; `nil` when there is none.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        let letters = Array("rwxrwxrwx")
        let bits = (0..<9).map { info.st_mode & (0o400 >> UInt32($0)) != 0 ? letters[$0] : "-" }
        permissions = "c" + String(bits)
        owner = info.st_uid
        group = info.st_gid
        hasList = ykit_access_list(path) > 0
        holders = Processes.holders(of: path)
    }
}
