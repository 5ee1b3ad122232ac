// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Users and groups of this machine, and what of them this process is.
package enum Accounts {
    /// The name of a user; the number where there is none.
    package static func user(_ number: UInt32) -> String {
        guard let entry = getpwuid(number), let name = entry.pointee.pw_name else { return String(number) }
        return String(cString: name)
    }

    /// The name of a group; the number where there is none.
    package static func group(_ number: UInt32) -> String {
        guard let entry = getgrgid(number), let name = entry.pointee.gr_name else { return String(number) }
        return String(cString: name)
    }

    /// Whether the group's list of members has this process's user in it, whatever groups the session began with.
    package static func isMember(of group: String) -> Bool {
        guard let entry = getgrnam(group), var member = entry.pointee.gr_mem else { return false }
        let name = user(getuid())
        while let text = member.pointee {
            if String(cString: text) == name { return true }
            member += 1
        }
        return false
    }

    /// Whether this process is of a group.
    package static func isRunning(as group: String) -> Bool {
        guard let entry = getgrnam(group) else { return false }
        let wanted = entry.pointee.gr_gid
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(Int32(groups.count), &groups)
        return wanted == getegid() || count > 0 && groups.prefix(Int(count)).contains(wanted)
    }
}
