// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware
import YKTransport

/// A file that is opened before its content exists, so that a permanent change to a key is made only if the result can
/// be saved. The file appears complete or not at all.
///
/// If the path leads to something other than a regular file, such as a pipe, the bytes are written to it.
final class SettledFile {
    /// What may exist at the path.
    enum Manner {
        /// No regular file may exist.
        case new
        /// A regular file may exist, and is replaced at the end.
        case replacing
    }

    private let path: String
    /// Removed if nothing is written; `nil` for a pipe, a device or a descriptor.
    private var file: NewFile?
    private let pipe: Int32

    /// Opens the file.
    ///
    /// - Parameter isSecret: Whether only the owner may read the file (mode 0600) instead of everyone (0644).
    init(_ path: String, _ manner: Manner, isSecret: Bool = true) throws(Explanation) {
        try Files.refuseStandardOutput(path)
        self.path = path
        let mode: UInt32 = isSecret ? 0o600 : 0o644
        if let descriptor = Self.descriptor(path) {
            pipe = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else if FileStatus(path)?.isRegular == false {
            pipe = open(path, O_WRONLY | O_CLOEXEC)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else {
            pipe = -1
            do {
                file = try manner == .new ? NewFile(reserving: path, mode: mode) : NewFile(beside: path, mode: mode)
            } catch { throw Files.explained(error) }
        }
    }

    /// The descriptor that a path such as /dev/fd/3 names; what the caller opened there is written to, whatever it is.
    private static func descriptor(_ path: String) -> Int32? {
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    deinit { if pipe >= 0 { close(pipe) } }

    /// Writes the content, once.
    func finish(_ bytes: [UInt8]) throws(Explanation) {
        do { try NewFile.write(bytes, to: file?.descriptor ?? pipe, path) } catch { throw Files.explained(error) }
        try keep()
    }

    /// Writes content that must be on disk before the next command to the key. The file is removed unless ``keep()``
    /// follows.
    func write(_ bytes: [UInt8]) throws(Explanation) {
        do {
            try NewFile.write(bytes, to: file?.descriptor ?? pipe, path)
            try file?.sync()
        } catch { throw Files.explained(error) }
    }

    /// Gives the file its final name.
    func keep() throws(Explanation) {
        do { try file?.replace(path) } catch { throw Files.explained(error) }
    }
}
