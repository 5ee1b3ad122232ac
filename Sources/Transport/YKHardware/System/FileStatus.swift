// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A path's status as reported by the kernel (stat(2)).
package struct FileStatus: Hashable, Sendable {
    /// Whether it is a regular file.
    package let isRegular: Bool
    /// The size in bytes; 0 for anything but a regular file.
    package let size: Int
    /// The major and minor numbers of a device node, as split by major(3) and minor(3).
    package var device: (major: UInt32, minor: UInt32) { (major, minor) }
    private let major: UInt32
    private let minor: UInt32

    /// Reads the status of a path; `nil` if the path does not exist or is not accessible.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        isRegular = info.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(info.st_size) : 0
        let number = UInt64(info.st_rdev)
        major = UInt32(truncatingIfNeeded: number >> 8 & 0xFFF | number >> 32 & ~0xFFF)
        minor = UInt32(truncatingIfNeeded: number & 0xFF | number >> 12 & ~0xFF)
    }
}
