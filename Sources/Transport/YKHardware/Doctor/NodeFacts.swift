// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport

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
