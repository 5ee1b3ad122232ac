// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
import YKWire

/// A store in a file: JSON, mode 0600, written to a temporary file, synced and renamed, under a lock.
///
/// If the program is killed at any time, the file has either the old or the new content. The lock is a separate file
/// next to it (`.lock`), which is never deleted.
public struct StoreFile: Sendable {
    /// The path of the file.
    public let path: String
    private let service: String
    /// How long to wait for another program's lock, in milliseconds.
    private let patience: Int32
    private static let limit = 64 << 20

    /// Creates a store for a path; the file is opened when first needed.
    public init(_ path: String, service: String, patience milliseconds: Int32 = 5000) {
        self.path = path
        self.service = service
        patience = milliseconds
    }

    /// Reads the content; an empty store if the file does not exist.
    ///
    /// - Throws: `unreadable`, `malformed`, or `laterVersion`.
    public func read() throws(StoreError) -> SealedStore {
        guard let bytes = try content() else { return SealedStore(service: service) }
        return try SealedStore(parsing: bytes, service: service, path: path)
    }

    /// Whether users other than the owner can read the file.
    public var isExposed: Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & 0o077 != 0
    }

    /// Changes the content under the lock, so that no other program writes between reading and writing.
    ///
    /// - Throws: `inUse`, `unwritable`, the errors of ``read()``, or the error of `body`.
    public func update<Value>(
        _ body: (inout SealedStore) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let lock = try locked()
        defer { close(lock) }
        var store = try read()
        let before = store
        let value = try body(&store)
        if store != before { try write(store) }
        return value
    }

    private func locked() throws(StoreError) -> Int32 {
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw .unwritable(path: path, reason: Self.failure) }
        var left = patience
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, left > 0 else {
                close(lock)
                throw .inUse(path: path)
            }
            _ = poll(nil, 0, 5)
            left -= 5
        }
        return lock
    }

    private func content() throws(StoreError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(path: path, reason: Self.failure)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, reason: Self.failure) }
            if count == 0 { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= Self.limit else {
                throw .malformed(path: path, reason: "larger than \(Self.limit >> 20) MiB")
            }
        }
    }

    private func write(_ store: SealedStore) throws(StoreError) {
        do {
            var file = try NewFile(beside: path)
            try file.append(Array((store.json.text + "\n").utf8))
            try file.sync()
            try file.replace(path)
        } catch { throw .unwritable(path: path, reason: error.reason) }
        NewFile.syncFolder(of: path)
    }

    private static var failure: String { String(cString: strerror(errno)) }
}
