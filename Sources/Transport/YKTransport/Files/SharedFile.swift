// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKWire

/// A file that several programs read whole and replace in turn.
///
/// New content is written to a temporary file, synced and renamed, so that a program that is killed leaves either the old
/// or the new content. The lock is a separate file next to it (`.lock`), which is never deleted.
package struct SharedFile: Sendable {
    package let path: String
    /// The maximum size of its content.
    private let limit: Int
    /// How long to wait for another program's lock.
    private let patience: Duration
    private let followsLinks: Bool

    /// Describes a file, which is opened when it is read.
    ///
    /// - Parameters:
    ///   - limit: The maximum size of its content in bytes.
    ///   - patience: How long to wait for another program's lock.
    ///   - followsLinks: Whether it is read, locked and written through a symbolic link.
    package init(_ path: String, limit: Int, patience: Duration, followsLinks: Bool) {
        self.path = path
        self.limit = limit
        self.patience = patience
        self.followsLinks = followsLinks
    }

    /// Runs `body` under the lock, so that no other program changes the file meanwhile.
    ///
    /// - Parameter lift: Makes the caller's error of `inUse` or `unwritable`.
    package func locked<Value, Failure: Error>(
        _ lift: (SharedFileError) -> Failure, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let lock: Int32
        do { lock = try locked() } catch { throw lift(error) }
        defer { close(lock) }
        return try body()
    }

    private func locked() throws(SharedFileError) -> Int32 {
        let name: String
        do { name = try place() + ".lock" } catch { throw .unwritable(path: path, error) }
        let lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .unwritable(path: path, FileFailure(.create, name)) }
        let end = ContinuousClock.now + patience
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < end else {
                close(lock)
                throw .inUse(path: path)
            }
            _ = poll(nil, 0, 5)
        }
        return lock
    }

    /// The path of the file itself.
    private func place() throws(FileFailure) -> String { followsLinks ? try LinkedFile.target(of: path) : path }

    /// Reads the content; `nil` if the file does not exist.
    ///
    /// - Throws: `unreadable`, `tooLarge`.
    package func read() throws(SharedFileError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(path: path, FileFailure(.open, path))
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, FileFailure(.read, path)) }
            if count == 0 { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= limit else { throw .tooLarge(path: path, limit: limit) }
        }
    }

    /// Whether users other than the owner may read or change the file.
    package var isExposed: Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & 0o077 != 0
    }

    /// Replaces the content with a line of JSON.
    ///
    /// - Throws: `unwritable`.
    package func replace(with json: JSONValue) throws(SharedFileError) {
        try replace(with: Array((json.text + "\n").utf8))
    }

    /// Replaces the content.
    ///
    /// - Throws: `unwritable`.
    package func replace(with bytes: [UInt8]) throws(SharedFileError) {
        do {
            var file = try NewFile(beside: place())
            try file.append(bytes)
            try file.sync()
            try file.replace()
            NewFile.syncFolder(of: file.path)
        } catch { throw .unwritable(path: path, error) }
    }
}

/// Why a file that several programs use could not be read or changed.
public enum SharedFileError: Error, Hashable, Sendable {
    /// Another program has locked or changed it.
    case inUse(path: String)
    /// It could not be read.
    case unreadable(path: String, FileFailure)
    /// It could not be written, or a file beside it: its lock, or its new content.
    case unwritable(path: String, FileFailure)
    /// It has more bytes than the limit.
    case tooLarge(path: String, limit: Int)
}
