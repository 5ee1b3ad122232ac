// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware

/// A file that is opened before there is anything to put into it, so that what is made on a key for good is made only
/// when it can be written down. Only its owner may read it; it is complete or, as before, not there.
final class SettledFile {
    /// What may be at the path already.
    enum Manner {
        /// Nothing.
        case new
        /// A file, which is replaced at the end. What is there and no plain file, such as a pipe, is written to.
        case replacing
    }

    private let path: String
    private let descriptor: Int32
    /// What is removed when nothing comes: the file itself or the one that would have taken its place.
    private var temporary: String?

    init(_ path: String, _ manner: Manner) throws(Explanation) {
        self.path = path
        if manner == .replacing, FileStatus(path)?.isRegular == false {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Files.failure("cannot open", path) }
        } else {
            let name = manner == .new ? path : path + ".new"
            if manner == .replacing { unlink(name) }
            descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw Files.failure("cannot create", path) }
            temporary = name
        }
    }

    deinit {
        close(descriptor)
        if let temporary { unlink(temporary) }
    }

    /// Writes what there is to write, once.
    func finish(_ bytes: [UInt8]) throws(Explanation) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Files.failure("cannot write", path) }
            rest = rest.dropFirst(count)
        }
        if let temporary, temporary != path, rename(temporary, path) != 0 {
            throw Files.failure("cannot replace", path)
        }
        temporary = nil
    }
}
