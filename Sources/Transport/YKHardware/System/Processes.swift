// SPDX-License-Identifier: Apache-2.0

import CHidraw
import Glibc
package import YKTransport

/// The other programs on this machine, from /proc (proc(5)).
package enum Processes {
    /// All process IDs except that of this process, in ascending order.
    static func others() -> [Int32] {
        let own = getpid()
        return SystemFile.names(in: "/proc").compactMap { Int32($0) }.filter { $0 != own }.sorted()
    }

    /// The files a process has open: paths, and descriptions such as `socket:[4711]`; empty for another user's process.
    static func open(by pid: Int32) -> Set<String> {
        let folder = "/proc/\(pid)/fd"
        return Set(SystemFile.names(in: folder).compactMap { SystemFile.target("\(folder)/\($0)") })
    }

    /// A process and its usual name.
    static func holder(_ pid: Int32) -> LinkError.Holder {
        let name = SystemFile.text("/proc/\(pid)/comm").map { $0.filter { $0 != "\n" } } ?? "?"
        guard name.utf8.count == 15 else { return .init(pid: pid, name: name) }
        // The kernel keeps only the first 15 bytes of a name; the command line has all of it.
        let words = SystemFile.text("/proc/\(pid)/cmdline")?.split(separator: "\0") ?? []
        let full = words.prefix(2).lazy.compactMap { $0.split(separator: "/").last }.first { $0.hasPrefix(name) }
        return .init(pid: pid, name: full.map(String.init) ?? name)
    }

    /// The processes that have the file at `path` open; if any of them have locked it, only those.
    static func holders(of path: String) -> [LinkError.Holder] {
        let real = SystemFile.real(path) ?? path
        let openers = others().filter { open(by: $0).contains(real) }
        let lockers = lockers(of: real)
        let found = openers.filter { Set(lockers).contains($0) }
        // A program that hides its memory hides its open files too, but not its locks.
        let hidden = openers.isEmpty ? lockers.filter { $0 != getpid() } : openers
        return (found.isEmpty ? hidden : found).map(holder)
    }

    /// The processes that have locked the file at `path`, this one among them. Some file systems, overlays among them, name
    /// another device in stat(2) than in /proc/locks: there, the other processes that have it open.
    package static func lockHolders(of path: String) -> [LinkError.Holder] {
        let lockers = lockers(of: path)
        return lockers.isEmpty ? holders(of: path) : lockers.map(holder)
    }

    /// The processes with this name, including those of other users.
    static func named(_ name: String) -> [LinkError.Holder] {
        others().map(holder).filter { $0.name == name }
    }

    /// The processes that hold a lock on the whole file (flock(2)), each once.
    static func lockers(of path: String) -> [Int32] {
        guard let status = FileStatus(path), let table = SystemFile.text("/proc/locks", limit: 1 << 20) else {
            return []
        }
        return lockers(fileSystem: status.fileSystem, inode: status.inode, in: table)
    }

    /// Parses rows such as `3: FLOCK  ADVISORY  WRITE 812 00:05:1034 0 EOF` (proc_locks(5)). They name a file by the major
    /// and minor number of its file system, in hexadecimal, and its inode, a number that files of other file systems may
    /// have too. A lock that is waited for has an arrow before FLOCK.
    static func lockers(fileSystem: DeviceNumber, inode: UInt64, in table: String) -> [Int32] {
        var found: [Int32] = []
        for row in table.split(separator: "\n") {
            let words = row.split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", let process = Int32(words[4]) else { continue }
            let file = words[5].split(separator: ":")
            guard file.count == 3, UInt32(file[0], radix: 16) == fileSystem.major,
                UInt32(file[1], radix: 16) == fileSystem.minor, UInt64(file[2]) == inode, !found.contains(process)
            else { continue }
            found.append(process)
        }
        return found
    }
}

/// This process.
package enum OwnProcess {
    /// Hides the memory of this process from other programs of the same user (ptrace, /proc/PID/mem) and keeps it out
    /// of core dumps (`PR_SET_DUMPABLE`, prctl(2)).
    package static func hide() { _ = ykit_hide_process() }
}
