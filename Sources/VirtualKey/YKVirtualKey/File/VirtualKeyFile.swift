// SPDX-License-Identifier: Apache-2.0

import Glibc
public import YKTransport
import YKWire

/// The state file of a virtual key: JSON, mode 0600, locked while the key is in use, replaced as a whole at each
/// change.
///
/// The lock is on the file itself. Replacing the file creates another one with the same name, so a program that waited
/// for the lock on the old file opens the name again, and a new file is locked before it is renamed.
struct VirtualKeyFile: Sendable {
    let path: String
    private var descriptor: Int32 = -1
    private var seen: Stamp?

    /// Identifies a version of the file's content.
    private struct Stamp: Hashable {
        let device, inode: UInt64
        let size: Int
        let seconds, nanoseconds: Int

        init(_ descriptor: Int32) {
            var info = stat()
            fstat(descriptor, &info)
            device = UInt64(info.st_dev)
            inode = UInt64(info.st_ino)
            size = Int(info.st_size)
            seconds = info.st_mtim.tv_sec
            nanoseconds = info.st_mtim.tv_nsec
        }
    }

    init(_ path: String) { self.path = path }

    /// Whether the content differs from what was last read or written. Requires the lock.
    var hasChanged: Bool { seen != Stamp(descriptor) }

    /// Takes the lock; `false` if another program holds it.
    mutating func lock() throws(VirtualKeyFileError) -> Bool {
        while true {
            let file = try opened()
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                Glibc.close(file)
                return false
            }
            if names(file) {
                descriptor = file
                return true
            }
            Glibc.close(file)
        }
    }

    mutating func unlock() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Reads the state. Requires the lock.
    mutating func load() throws(VirtualKeyFileError) -> VirtualKeyState {
        let stamp = Stamp(descriptor)
        let state = try parse(try content())
        seen = stamp
        return state
    }

    /// Replaces the content. Requires the lock.
    mutating func save(_ state: VirtualKeyState) throws(VirtualKeyFileError) {
        let file: Int32
        do {
            var new = try create(state)
            try new.replace()
            file = new.release()
        } catch { throw unwritable(error) }
        NewFile.syncFolder(of: path)
        unlock()
        descriptor = file
        seen = Stamp(file)
    }

    /// Writes an initial state under the name, unless the file exists.
    func createIfMissing(_ state: () throws(LinkError) -> VirtualKeyState) throws(VirtualKeyFileError) {
        var info = stat()
        guard lstat(path, &info) != 0, errno == ENOENT else { return }
        guard let state = try? state() else {
            throw .unwritable(path: path, errno: EIO, "no random bytes for a new key")
        }
        do {
            var file = try create(state)
            guard try file.takeFree() else { return }
        } catch { throw unwritable(error) }
        NewFile.syncFolder(of: path)
    }

    private func opened() throws(VirtualKeyFileError) -> Int32 {
        let file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if file < 0 {
            throw errno == ELOOP || errno == EISDIR || errno == ENXIO ? .notAFile(path: path) : unreadable()
        }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(file)
            throw .notAFile(path: path)
        }
        return file
    }

    /// Whether the name still refers to this file.
    private func names(_ file: Int32) -> Bool {
        var named = stat()
        var held = stat()
        return lstat(path, &named) == 0 && fstat(file, &held) == 0 && named.st_ino == held.st_ino
            && named.st_dev == held.st_dev
    }

    private func content() throws(VirtualKeyFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = pread(descriptor, &block, block.count, off_t(bytes.count))
            if count < 0 { throw unreadable() }
            if count == 0 { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= 1 << 20 else {
                throw .broken(path: path, line: nil, field: nil, reason: "more than a mebibyte")
            }
        }
    }

    private func parse(_ bytes: [UInt8]) throws(VirtualKeyFileError) -> VirtualKeyState {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch {
            let line = bytes.prefix(error.offset).count { $0 == 0x0A } + 1
            throw .broken(path: path, line: line, field: nil, reason: error.reason)
        }
        guard let format = json[VirtualKeyState.mark]?.int, format > 0 else {
            throw .broken(path: path, line: nil, field: VirtualKeyState.mark, reason: "expected a format number")
        }
        guard format <= VirtualKeyState.format else { throw .newer(path: path, format: format) }
        do { return try VirtualKeyState(json) } catch {
            throw .broken(path: path, line: nil, field: error.field, reason: error.reason)
        }
    }

    /// Creates a complete new file next to the old one, flushed to disk and locked.
    private func create(_ state: VirtualKeyState) throws(FileFailure) -> NewFile {
        let file = try NewFile(beside: path)
        try file.append(Array((state.json.prettyText + "\n").utf8))
        try file.sync()
        guard flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 else { throw FileFailure(.write, path) }
        return file
    }

    private func unreadable() -> VirtualKeyFileError {
        .unreadable(path: path, errno: errno, String(cString: strerror(errno)))
    }

    private func unwritable(_ failure: FileFailure) -> VirtualKeyFileError {
        .unwritable(path: path, errno: failure.number, failure.reason)
    }
}

/// Why the state file of a virtual key could not be used. The file remains unchanged.
public enum VirtualKeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file could not be opened or read.
    case unreadable(path: String, errno: Int32, String)
    /// The file could not be written; the key's last operation was not carried out.
    case unwritable(path: String, errno: Int32, String)
    /// The name is a symbolic link, a folder or a device.
    case notAFile(path: String)
    /// The content is not a valid virtual key state: the line where parsing failed, or the invalid field.
    case broken(path: String, line: Int?, field: String?, reason: String)
    /// A newer version of this program wrote the file.
    case newer(path: String, format: Int64)
    /// Another program uses the file.
    case inUse(path: String, holders: [LinkError.Holder])

    /// What happened, in one line.
    public var description: String {
        switch self {
        case .unreadable(let path, _, let reason): "\(path) could not be read: \(reason)"
        case .unwritable(let path, _, let reason): "\(path) could not be written: \(reason)"
        case .notAFile(let path): "\(path) is not a plain file"
        case .broken(let path, let line, let field, let reason):
            "\(path) is not the state of a virtual key: "
                + (line.map { "line \($0): " } ?? "") + (field.map { "field \($0): " } ?? "") + reason
        case .newer(let path, let format): "\(path) has format \(format), which a newer ykit wrote"
        case .inUse(let path, let holders):
            "\(path) is used by " + (holders.isEmpty ? "another program" : holders.map(\.text).joined(separator: ", "))
        }
    }

    /// The error as a link reports it.
    var asLinkError: LinkError { .failed(code: 0, description) }
}

extension LinkError.Holder {
    fileprivate var text: String { "\(name) (process \(pid))" }
}
