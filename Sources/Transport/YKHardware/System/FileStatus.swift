// SPDX-License-Identifier: Apache-2.0

import Glibc

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
