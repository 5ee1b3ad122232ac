// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKTransport

/// Waits until another program has used a node: opened it for writing and closed it (inotify(7)). A node that is moved
/// stays watched.
package final class NodeClosings: Sendable {
    private let descriptor: Int32

    /// - Returns: `nil` if there is no such node, or the system has no descriptor or watch left.
    package init?(_ path: String) {
        // The flags of inotify have the values of those of open(2).
        descriptor = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
        guard descriptor >= 0 else { return nil }
        guard inotify_add_watch(descriptor, path, UInt32(IN_CLOSE_WRITE)) >= 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }

    /// Blocks until a program has closed the node, or after any of the cancellations; returns whether one has.
    package func wait(until cancellations: [Cancellation]) -> Bool {
        var events = [UInt8](repeating: 0, count: 4096)
        while !cancellations.contains(where: \.isCancelled) {
            Readiness.wait(for: [descriptor], until: cancellations)
            if read(descriptor, &events, events.count) > 0 { return true }
        }
        return false
    }
}

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
