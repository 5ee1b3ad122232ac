// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A file that is being written: mode 0600, never through a symbolic link, nothing that is there already is touched.
///
/// One that was created beside another, or to reserve a name, is gone at the end of its life unless it has got its name
/// by ``replace(_:)`` or ``takeFree(_:)`` when it was complete. Where a program was killed in between, the next one that
/// writes the same file removes what was left: secrets do not stay behind.
package struct NewFile: ~Copyable {
    /// What it is called now.
    package private(set) var path: String
    /// The open file.
    package private(set) var descriptor: Int32
    private var isTemporary: Bool

    /// Creates a file under its own name.
    package init(creating path: String) throws(FileFailure) {
        self = try Self(path, isTemporary: false)
    }

    /// Creates a file under its own name, so that nobody else takes it; `replace` with the same name makes it stay.
    package init(reserving path: String) throws(FileFailure) {
        self = try Self(path, isTemporary: true)
    }

    /// Creates a file in the same folder, with a name that nothing has.
    package init(beside path: String) throws(FileFailure) {
        Self.removeLeftovers(of: path)
        for attempt in 0..<100 {
            do throws(FileFailure) {
                self = try Self("\(path).new-\(getpid())-\(attempt)", isTemporary: true)
                return
            } catch {
                guard error.number == EEXIST else { throw FileFailure(.create, path, error.number) }
            }
        }
        throw FileFailure(.create, path, EEXIST)
    }

    /// Removes this user's `PATH.new-PID-N` of processes that are no more.
    private static func removeLeftovers(of path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
        let start = (parts.last.map(String.init) ?? path) + ".new-"
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

    private init(_ path: String, isTemporary: Bool) throws(FileFailure) {
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw FileFailure(.create, path) }
        self.path = path
        self.isTemporary = isTemporary
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
        if isTemporary { unlink(path) }
    }

    /// Adds bytes at the end.
    package borrowing func append(_ bytes: [UInt8]) throws(FileFailure) {
        try Self.write(bytes, to: descriptor, path)
    }

    /// Takes off what is behind so many bytes.
    package borrowing func truncate(to count: Int) {
        _ = ftruncate(descriptor, off_t(count))
        _ = lseek(descriptor, off_t(count), SEEK_SET)
    }

    /// Waits until the content is on the disk.
    package borrowing func sync() throws(FileFailure) {
        guard fsync(descriptor) == 0 else { throw FileFailure(.write, path) }
    }

    /// Takes the name of a file, which is gone then.
    package mutating func replace(_ target: String) throws(FileFailure) {
        guard rename(path, target) == 0 else { throw FileFailure(.replace, target) }
        (path, isTemporary) = (target, false)
    }

    /// Takes a name that nothing has; `false`, and no change, when something has it.
    package mutating func takeFree(_ target: String) throws(FileFailure) -> Bool {
        guard link(path, target) == 0 else {
            if errno == EEXIST { return false }
            throw FileFailure(.create, target)
        }
        unlink(path)
        (path, isTemporary) = (target, false)
        return true
    }

    /// The open file, which the caller closes.
    package consuming func release() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    /// Writes everything to an open file; its path is for the failure's words.
    package static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileFailure(.write, path) }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the names in a file's folder are on the disk, as far as the file system can.
    package static func syncFolder(of path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
