// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware
import YKTransport

/// A file that is opened before there is anything to put into it, so that what is made on a key for good is made only
/// when it can be written down. It is complete or, as before, not there.
///
/// What is at the path and not a regular file, such as a pipe, is written to.
final class SettledFile {
    /// What may be at the path already.
    enum Manner {
        /// No regular file.
        case new
        /// A regular file, which is replaced at the end.
        case replacing
    }

    private let path: String
    /// Removed when nothing comes; `nil` where there is a pipe or device.
    private var file: NewFile?
    private let pipe: Int32

    /// - Parameter isSecret: Whether only the owner may read the file (mode 0600); others may otherwise (0644).
    init(_ path: String, _ manner: Manner, isSecret: Bool = true) throws(Explanation) {
        self.path = path
        let mode: UInt32 = isSecret ? 0o600 : 0o644
        if FileStatus(path)?.isRegular == false {
            pipe = open(path, O_WRONLY | O_CLOEXEC)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else {
            pipe = -1
            do {
                file = try manner == .new ? NewFile(reserving: path, mode: mode) : NewFile(beside: path, mode: mode)
            } catch { throw Files.explained(error) }
        }
    }

    deinit { if pipe >= 0 { close(pipe) } }

    /// Writes what there is to write, once.
    func finish(_ bytes: [UInt8]) throws(Explanation) {
        do { try NewFile.write(bytes, to: file?.descriptor ?? pipe, path) } catch { throw Files.explained(error) }
        try keep()
    }

    /// Writes what is to be on the disk before the key does something. Unless ``keep()`` follows, the file goes away.
    func write(_ bytes: [UInt8]) throws(Explanation) {
        do {
            try NewFile.write(bytes, to: file?.descriptor ?? pipe, path)
            try file?.sync()
        } catch { throw Files.explained(error) }
    }

    /// Lets the file have its name.
    func keep() throws(Explanation) {
        do { try file?.replace(path) } catch { throw Files.explained(error) }
    }
}
