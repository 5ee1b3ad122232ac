// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Finds the processes that hold a lock on a file, from /proc/locks (proc(5)).
enum LockHolders {
    static func of(_ path: String) -> [LinkError.Holder] {
        var info = stat()
        guard lstat(path, &info) == 0 else { return [] }
        let suffix = ":\(info.st_ino)"
        let rows = text("/proc/locks").split(separator: "\n").map { $0.split(separator: " ") }
        return rows.compactMap { row in
            guard row.count > 5, row[1] == "FLOCK", row[5].hasSuffix(suffix), let pid = Int32(row[4]) else {
                return nil
            }
            let name = text("/proc/\(pid)/comm").split(separator: "\n").first.map(String.init)
            return LinkError.Holder(pid: pid, name: name ?? "a program")
        }
    }

    private static func text(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while bytes.count < 1 << 20 {
            let count = read(file, &block, block.count)
            guard count > 0 else { break }
            bytes += block.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
