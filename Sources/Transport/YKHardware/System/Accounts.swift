// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The users and groups of this machine, and the memberships of this process.
package enum Accounts {
    /// The name of a user; the number if it has no name.
    package static func user(_ number: UInt32) -> String {
        guard let entry = getpwuid(number), let name = entry.pointee.pw_name else { return String(number) }
        return String(cString: name)
    }

    /// The number of a user; `nil` if there is no such user.
    package static func number(of user: String) -> UInt32? { getpwnam(user)?.pointee.pw_uid }

    /// The name of a group; the number if it has no name.
    package static func group(_ number: UInt32) -> String {
        guard let entry = getgrgid(number), let name = entry.pointee.gr_name else { return String(number) }
        return String(cString: name)
    }

    /// Whether the group's member list contains this process's user, regardless of the groups the session was started
    /// with.
    package static func isMember(of group: String) -> Bool {
        guard let entry = getgrnam(group), var member = entry.pointee.gr_mem else { return false }
        let name = user(getuid())
        while let text = member.pointee {
            if String(cString: text) == name { return true }
            member += 1
        }
        return false
    }

    /// Whether this process runs with a group.
    package static func isRunning(as group: String) -> Bool {
        guard let entry = getgrnam(group) else { return false }
        let wanted = entry.pointee.gr_gid
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(groups.count), &groups)
        return wanted == getegid() || count > 0 && groups.prefix(Int(count)).contains(wanted)
    }
}
