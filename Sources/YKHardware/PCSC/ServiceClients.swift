// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Which processes are connected to pcscd. pcscd does not tell who holds a card, so these are the ones that may.
enum ServiceClients {
    /// The processes connected to the socket at `path`, without this one.
    ///
    /// The kernel tells which sockets were accepted there and who is at their other end. Where it does not (containers
    /// without socket diagnosis), every process that has libpcsclite loaded and a socket open counts.
    static func others(of path: String) -> [LinkError.Holder] {
        let own = getpid()
        let pids = processes().filter { $0 != own }
        if let peers = SocketDiagnosis.peers(of: path) {
            return pids.filter { !sockets(of: $0).isDisjoint(with: peers) }.map(holder)
        }
        return pids.filter { usesLibrary($0) && !sockets(of: $0).isEmpty }.map(holder)
    }

    /// A process with the name under which people know it.
    static func holder(_ pid: Int32) -> LinkError.Holder {
        let name = read("/proc/\(pid)/comm").map { $0.filter { $0 != "\n" } } ?? "?"
        guard name.utf8.count == 15 else { return .init(pid: pid, name: name) }
        // The kernel keeps 15 bytes of a name; the command line has the whole.
        let words = read("/proc/\(pid)/cmdline")?.split(separator: "\0") ?? []
        let full = words.prefix(2).lazy.compactMap { $0.split(separator: "/").last }.first { $0.hasPrefix(name) }
        return .init(pid: pid, name: full.map(String.init) ?? name)
    }

    /// Whether libpcsclite is loaded in a process.
    static func usesLibrary(_ pid: Int32) -> Bool {
        read("/proc/\(pid)/maps", limit: 4 << 20)?.contains("/libpcsclite") ?? false
    }

    private static func processes() -> [Int32] { names(in: "/proc").compactMap { Int32($0) }.sorted() }

    /// The inodes of the sockets that a process has open; empty for another user's process.
    static func sockets(of pid: Int32) -> Set<UInt32> {
        let folder = "/proc/\(pid)/fd"
        var found: Set<UInt32> = []
        for name in names(in: folder) {
            var target = [CChar](repeating: 0, count: 64)
            guard readlink("\(folder)/\(name)", &target, target.count - 1) > 0 else { continue }
            let text = String(decoding: target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if text.hasPrefix("socket:["), let inode = UInt32(text.dropFirst(8).dropLast()) { found.insert(inode) }
        }
        return found
    }

    private static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var found: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 }.map { $0 } }
            if name.first != UInt8(ascii: ".") { found.append(String(decoding: name, as: UTF8.self)) }
        }
        return found
    }

    private static func read(_ path: String, limit: Int = 4096) -> String? {
        let handle = open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while text.count < limit {
            let count = Glibc.read(handle, &piece, piece.count)
            guard count > 0 else { break }
            text += piece.prefix(count)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
