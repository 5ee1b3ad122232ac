// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Reads small files and folders of the kernel, as in /proc and /sys.
package enum SystemFile {
    /// The first bytes of a file; `nil` if it cannot be opened or read.
    static func bytes(_ path: String, limit: Int = 4096) -> [UInt8]? {
        let handle = open(path, O_RDONLY | O_CLOEXEC)
        guard handle >= 0 else { return nil }
        defer { close(handle) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = read(handle, &piece, piece.count)
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }

    /// The file as text.
    package static func text(_ path: String, limit: Int = 4096) -> String? {
        bytes(path, limit: limit).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The target of a symbolic link.
    static func target(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: 4096)
        guard readlink(path, &target, target.count - 1) > 0 else { return nil }
        return String(decoding: target.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path with all symbolic links resolved.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The names in a folder, except those that begin with a dot; empty if the folder cannot be read.
    package static func names(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var found: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 }.map { $0 } }
            if name.first != UInt8(ascii: ".") { found.append(String(decoding: name, as: UTF8.self)) }
        }
        return found
    }
}

/// A path's status as reported by the kernel (stat(2)).
package struct FileStatus: Hashable, Sendable {
    /// Whether it is a regular file.
    package let isRegular: Bool
    /// The size in bytes; 0 for anything but a regular file.
    package let size: Int
    /// The device that a device node stands for.
    let device: DeviceNumber
    /// The device with the file system that the file is in.
    let fileSystem: DeviceNumber
    /// The file's number in that file system.
    let inode: UInt64

    /// Reads the status of a path; `nil` if the path does not exist or is not accessible.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        isRegular = info.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(info.st_size) : 0
        device = DeviceNumber(info.st_rdev)
        fileSystem = DeviceNumber(info.st_dev)
        inode = UInt64(info.st_ino)
    }
}

/// The number of a device in its two parts (makedev(3)).
struct DeviceNumber: Hashable {
    let major: UInt32
    let minor: UInt32
}

extension DeviceNumber {
    /// Splits a number as major(3) and minor(3) do.
    init(_ number: dev_t) {
        let number = UInt64(number)
        major = UInt32(truncatingIfNeeded: number >> 8 & 0xFFF | number >> 32 & ~0xFFF)
        minor = UInt32(truncatingIfNeeded: number & 0xFF | number >> 12 & ~0xFF)
    }
}
