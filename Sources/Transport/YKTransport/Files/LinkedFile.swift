// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Resolves symbolic links in a file's path, so that the file itself is replaced and the link remains.
package enum LinkedFile {
    /// The maximum number of links in a row, that of Linux.
    private static let limit = 40

    /// Returns the path that a path leads to through symbolic links; the file need not exist.
    ///
    /// A link in a folder that everyone may write to and that protects its entries, such as /tmp, is followed only if it
    /// is this user's or the folder owner's, as Linux does with `fs.protected_symlinks`.
    ///
    /// - Throws: `ELOOP` for a circle of links, `EACCES` for another user's link.
    package static func target(of path: String) throws(FileFailure) -> String {
        var path = path
        for _ in 0..<limit {
            guard let next = try link(path) else { return path }
            path = next.hasPrefix("/") ? next : folder(of: path) + next
        }
        throw FileFailure(.open, path, ELOOP)
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// The content of a symbolic link; `nil` for anything else.
    private static func link(_ path: String) throws(FileFailure) -> String? {
        var link = stat()
        guard lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK else { return nil }
        var place = stat()
        let folder = folder(of: path)
        guard stat(folder.isEmpty ? "." : folder, &place) == 0 else { throw FileFailure(.open, path) }
        let isShared = place.st_mode & mode_t(S_ISVTX) != 0 && place.st_mode & mode_t(S_IWOTH) != 0
        guard !isShared || link.st_uid == geteuid() || link.st_uid == place.st_uid else {
            throw FileFailure(.open, path, EACCES)
        }
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { readlink(path, $0, buffer.count) } ?? 0 }
        }
        guard count > 0, count < bytes.count else { throw FileFailure(.open, path) }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
