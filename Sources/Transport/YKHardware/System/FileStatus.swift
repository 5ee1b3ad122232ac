// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What the kernel says of a path (stat(2)).
package struct FileStatus: Hashable, Sendable {
    /// Whether it is a plain file.
    package let isRegular: Bool
    /// The numbers of a device node, as major(3) and minor(3) take them apart.
    package var device: (major: UInt32, minor: UInt32) { (major, minor) }
    private let major: UInt32
    private let minor: UInt32

    /// Looks a path up; `nil` when it is not there, or may not be seen.
    package init?(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        isRegular = info.st_mode & S_IFMT == S_IFREG
        let number = UInt64(info.st_rdev)
        major = UInt32(truncatingIfNeeded: number >> 8 & 0xFFF | number >> 32 & ~0xFFF)
        minor = UInt32(truncatingIfNeeded: number & 0xFF | number >> 12 & ~0xFF)
    }
}
