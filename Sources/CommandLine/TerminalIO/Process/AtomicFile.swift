// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware
import YKTransport

/// A file that is opened before its content exists, so that a permanent change to a key is made only if the result can
/// be saved: a name that is taken and a full disk are detected first. The file appears complete or not at all.
///
/// Through a symbolic link, the file that it leads to is replaced.
///
/// If the path leads to something other than a regular file, such as a pipe, the bytes are written to it.
package final class AtomicFile {
    /// What may exist at the path.
    package enum Manner {
        /// Nothing may exist, neither at the beginning nor at the end.
        case new
        /// A regular file may exist, and is replaced at the end.
        case replacing
    }

    /// The free space that the disk must have for content that does not exist yet, in bytes.
    private static let room = 16 << 10

    private let path: String
    private let manner: Manner
    /// Removed if nothing is written; `nil` for a pipe, a device or a descriptor.
    private var file: NewFile?
    private let pipe: Int32

    /// Opens the file.
    ///
    /// - Parameter isSecret: Whether only the owner may read the file (mode 0600) instead of everyone (0644).
    package init(_ path: String, _ manner: Manner, isSecret: Bool = true) throws(Explanation) {
        try Files.refuseStandardOutput(path)
        try Files.checkName(path)
        (self.path, self.manner) = (path, manner)
        let mode: UInt32 = isSecret ? 0o600 : 0o644
        if let descriptor = Self.descriptor(path) {
            pipe = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else if FileStatus(path)?.isRegular == false {
            pipe = open(path, O_WRONLY | O_CLOEXEC)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else {
            pipe = -1
            do throws(FileFailure) {
                if manner == .new, Files.isTaken(path) { throw FileFailure(.create, path, EEXIST) }
                let opened = try NewFile(beside: manner == .new ? path : LinkedFile.target(of: path), mode: mode)
                try opened.reserve(Self.room)
                file = consume opened
            } catch { throw error.explanation }
        }
    }

    /// The descriptor that a path such as /dev/fd/3 names; whatever the caller opened there is written to.
    private static func descriptor(_ path: String) -> Int32? {
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    deinit { if pipe >= 0 { close(pipe) } }

    /// Writes the content, once.
    package func finish(_ bytes: [UInt8]) throws(Explanation) {
        try put(bytes)
        try keep()
    }

    /// Writes content that must be on disk before the next command to the key, under a temporary name. The file is
    /// removed unless ``keep()`` follows; if the program is killed before that, it stays. Once the key has accepted a
    /// secret, ``keep()`` is therefore the next call, whatever else fails.
    package func write(_ bytes: [UInt8]) throws(Explanation) {
        try put(bytes)
        do {
            try file?.sync()
            try file?.takeTemporaryName()
        } catch { throw error.explanation }
    }

    private func put(_ bytes: [UInt8]) throws(Explanation) {
        do {
            try NewFile.write(bytes, to: file?.descriptor ?? pipe, path)
            file?.truncate(to: bytes.count)
        } catch { throw error.explanation }
    }

    /// Gives the file its final name. Its content is never lost: if it cannot get that name, it keeps a temporary one.
    ///
    /// - Throws: `file-exists` if another program took the name meanwhile, or why the name cannot be given; the hint
    ///   names the file with the content.
    package func keep() throws(Explanation) {
        let problem: FileFailure
        do throws(FileFailure) {
            guard manner == .new else {
                try file?.replace()
                return
            }
            guard try file?.takeFree() == false else { return }
            problem = FileFailure(.create, path, EEXIST)
        } catch { problem = error }
        do { try file?.keepTemporaryName() } catch { throw problem.explanation }
        var failure = problem.explanation
        let why = problem.number == EEXIST ? "another program created it just now; " : ""
        failure.hint = "\(why)the content is in \(file?.path.printable ?? "")"
        throw failure
    }
}
