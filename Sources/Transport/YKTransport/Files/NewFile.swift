// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc

/// A file being written: never through a symbolic link, and without changing an existing file before it is complete.
///
/// A file that was created beside another is removed at the end of its life unless it was given its name by
/// ``replace()`` or ``takeFree()`` when it was complete. Until then it has no name at all (`O_TMPFILE`), so that a
/// killed program leaves nothing behind, or a temporary one (`PATH.new-PID-N`) where the file system has no nameless
/// files; the next program that completes the same file removes what a killed one left. Content that must outlive the
/// program has a name that no program removes (`PATH.kept-PID-N`) from ``takeTemporaryName()`` on.
package struct NewFile: ~Copyable {
    /// The current name, or the future one while the file has no name.
    package private(set) var path: String
    /// The name that the file gets in the end.
    private let target: String
    /// The open file.
    package private(set) var descriptor: Int32
    private var naming: Naming

    /// The state of the file's name.
    private enum Naming {
        /// Its own name, or a temporary one that it keeps.
        case final
        /// A temporary name, removed with the file.
        case temporary
        /// A temporary name that stays if the program is killed; removed with the file.
        case kept
        /// No name yet.
        case none
    }

    /// Creates a file in the same folder, without a name or with an unused one.
    ///
    /// - Parameter mode: Its permissions, reduced by the process's umask.
    package init(beside path: String, mode: UInt32 = 0o600) throws(FileFailure) {
        let nameless = open(Self.folder(of: path), Self.nameless | O_RDWR | O_CLOEXEC, mode)
        if nameless >= 0, access(Self.link(nameless), F_OK) == 0 {
            self = Self(nameless, path, .none, target: path)
            return
        }
        if nameless >= 0 { close(nameless) }
        self = try Self.withFreeName(beside: path) { name throws(FileFailure) in
            try Self.created(name, mode, target: path)
        }
    }

    /// `O_TMPFILE`, whose macro is not visible in Swift.
    private static let nameless = 0o20_000_000 | O_DIRECTORY

    /// The name of an open file in the file system of processes.
    private static func link(_ descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

    private static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

    /// Runs `body` with the first unused name of the form `PATH.new-PID-N`, or `PATH.kept-PID-N`.
    private static func withFreeName<Value: ~Copyable>(
        beside path: String, _ word: String = "new", _ body: (String) throws(FileFailure) -> Value
    ) throws(FileFailure) -> Value {
        for attempt in 0..<100 {
            do throws(FileFailure) { return try body("\(path).\(word)-\(getpid())-\(attempt)") } catch {
                guard error.number == EEXIST else { throw FileFailure(.create, path, error.number) }
            }
        }
        throw FileFailure(.create, path, EEXIST)
    }

    /// Removes this user's `PATH.new-PID-N` files of processes that no longer exist.
    private static func removeLeftovers(of path: String) {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        let folder = name.startIndex == path.startIndex ? "./" : String(path[..<name.startIndex])
        let start = name + ".new-"
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(start), let process = pid_t(name.dropFirst(start.count).prefix { $0 != "-" }) else {
                continue
            }
            var info = stat()
            guard process > 0, kill(process, 0) != 0, errno == ESRCH, lstat(folder + name, &info) == 0 else { continue }
            guard info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid() else { continue }
            unlink(folder + name)
        }
    }

    private static func created(
        _ path: String, _ mode: UInt32, target: String
    ) throws(FileFailure) -> NewFile {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw FileFailure(.create, path) }
        UnfinishedWork.begin()
        return NewFile(descriptor, path, .temporary, target: target)
    }

    private init(_ descriptor: Int32, _ path: String, _ naming: Naming, target: String) {
        (self.descriptor, self.path, self.naming, self.target) = (descriptor, path, naming, target)
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        guard naming == .temporary || naming == .kept else { return }
        unlink(path)
        UnfinishedWork.end()
    }

    /// Appends bytes.
    package borrowing func append(_ bytes: [UInt8]) throws(FileFailure) {
        try Self.write(bytes, to: descriptor, path)
    }

    /// Truncates the file to this many bytes.
    package borrowing func truncate(to count: Int) {
        _ = ftruncate(descriptor, off_t(count))
        _ = lseek(descriptor, off_t(count), SEEK_SET)
    }

    /// Waits until the content is on disk.
    package borrowing func sync() throws(FileFailure) {
        guard fsync(descriptor) == 0 else { throw FileFailure(.write, path) }
    }

    /// Reserves this many bytes on disk for an empty file, if the file system supports it. ``truncate(to:)`` releases
    /// those that the content does not need.
    ///
    /// - Throws: A failure for a full disk.
    package borrowing func reserve(_ count: Int) throws(FileFailure) {
        let number = posix_fallocate(descriptor, 0, off_t(count))
        guard ![ENOSPC, EDQUOT, EFBIG].contains(number) else { throw FileFailure(.write, target, number) }
    }

    /// Gives the file a temporary name, on disk, so that its content outlives the program.
    package mutating func takeTemporaryName() throws(FileFailure) {
        guard naming == .none || naming == .temporary else { return }
        let (before, source) = (naming, naming == .none ? Self.link(descriptor) : path)
        path = try Self.withFreeName(beside: target, "kept") { name throws(FileFailure) in
            let failed =
                before == .none
                ? linkat(AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) : ykit_rename_new(source, name)
            guard failed == 0 else { throw FileFailure(.create, name) }
            return name
        }
        naming = .kept
        if before == .none { UnfinishedWork.begin() }
        Self.syncFolder(of: path)
    }

    /// Keeps the file under its temporary name.
    package mutating func keepTemporaryName() throws(FileFailure) {
        try takeTemporaryName()
        commit(as: path)
    }

    /// Gives the file its name, replacing an existing file.
    package mutating func replace() throws(FileFailure) {
        if naming == .none {
            let open = Self.link(descriptor)
            path = try Self.withFreeName(beside: target) { name throws(FileFailure) in
                guard linkat(AT_FDCWD, open, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 else {
                    throw FileFailure(.create, name)
                }
                return name
            }
            naming = .temporary
            UnfinishedWork.begin()
        }
        guard rename(path, target) == 0 else { throw FileFailure(.replace, target) }
        commit(as: target)
        Self.removeLeftovers(of: target)
    }

    /// Gives the file its name if that is unused; otherwise returns `false`, and changes nothing.
    package mutating func takeFree() throws(FileFailure) -> Bool {
        let failed =
            naming == .none
            ? linkat(AT_FDCWD, Self.link(descriptor), AT_FDCWD, target, AT_SYMLINK_FOLLOW)
            : ykit_rename_new(path, target)
        guard failed == 0 else {
            guard errno == EEXIST else { throw FileFailure(.create, target) }
            return false
        }
        commit(as: target)
        Self.removeLeftovers(of: target)
        return true
    }

    /// Gives the file its name; throws if that is in use.
    package mutating func take() throws(FileFailure) {
        guard try takeFree() else { throw FileFailure(.create, target, EEXIST) }
    }

    private mutating func commit(as name: String) {
        if naming == .temporary || naming == .kept { UnfinishedWork.end() }
        (path, naming) = (name, .final)
    }

    /// Returns the open file; the caller closes it.
    package consuming func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    /// Writes everything to an open file; the path is used in errors.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFailure(.write, path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the names in a file's folder are on disk, as far as the file system can.
    package static func syncFolder(of path: String) {
        let descriptor = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

/// Why a file could not be read or written.
public struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Attempt: String, Sendable {
        case open, read, create, write, replace, lock
        /// Writing a file into a folder.
        case writeIn = "write in"
    }

    /// The operation that failed.
    public let attempt: Attempt
    /// The file or folder.
    public let path: String
    /// The system's error number; `ECANCELED` after a cancellation.
    public let number: Int32

    /// Captures the error number of the call that just failed.
    package init(_ attempt: Attempt, _ path: String, _ number: Int32 = errno) {
        self.attempt = attempt
        self.path = path
        self.number = number
    }

    /// The system's error message.
    public var reason: String { String(cString: strerror(number)) }

    /// The operation, the path and the system's error message.
    public var description: String { "cannot \(attempt.rawValue) \(path): \(reason)" }
}

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
