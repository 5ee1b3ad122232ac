// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport
public import YKWire

/// A file with the latest counter of each key: JSON, mode 0600, replaced atomically under a lock.
///
/// A counter is on disk before ``advance(_:to:)`` returns, so that a crash cannot make an accepted password valid
/// again. The lock is a separate file beside it (`.lock`), which is never deleted.
public struct CounterFile: CounterStore, Sendable {
    /// Its path.
    public let path: String
    /// How long to wait for another program's lock, in milliseconds.
    private let patience: Int32
    private static let mark = "ykit-otp-counters"
    private static let format: Int64 = 1
    private static let limit = 16 << 20

    /// Creates a store for a path; the file is opened when first needed.
    public init(_ path: String, patience milliseconds: Int32 = 5000) {
        self.path = path
        patience = milliseconds
    }

    /// Stores a counter if it is higher than the one in the file.
    public func advance(_ publicID: [UInt8], to counter: OTPCounter) throws(CounterFileError) -> OTPCounter? {
        let lock = try locked()
        defer { close(lock) }
        var entries = try entries()
        let name = Modhex.encode(publicID)
        var previous: OTPCounter?
        if let known = entries[name] { previous = try self.counter(in: known, name) }
        if let previous, previous >= counter { return previous }
        entries[name] = ["use": .int(Int64(counter.use)), "session": .int(Int64(counter.session))]
        try replace(with: [Self.mark: .int(Self.format), "keys": .object(entries)])
        return previous
    }

    private func locked() throws(CounterFileError) -> Int32 {
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

    private func entries() throws(CounterFileError) -> JSON.Object {
        guard let bytes = try content() else { return JSON.Object() }
        let json: JSON
        do { json = try JSON(parsing: bytes) } catch { throw .broken(path: path, reason: "\(error)") }
        guard let format = json[Self.mark]?.int, format == Self.format, let keys = json["keys"]?.object else {
            throw .broken(path: path, reason: "this is no file of counters, or one of a later ykit")
        }
        return keys
    }

    private func counter(in json: JSON, _ name: String) throws(CounterFileError) -> OTPCounter {
        guard let use = json["use"]?.int.flatMap(UInt16.init(exactly:)),
            let session = json["session"]?.int.flatMap(UInt8.init(exactly:))
        else { throw .broken(path: path, reason: "the counter of '\(name)' is none") }
        return OTPCounter(use: use, session: session)
    }

    /// The bytes of the file; `nil` if it does not exist yet.
    private func content() throws(CounterFileError) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(path: path, reason: Self.failure)
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(file, &block, block.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .unreadable(path: path, reason: Self.failure) }
            if count == 0 { return bytes }
            bytes += block.prefix(count)
            guard bytes.count <= Self.limit else { throw .broken(path: path, reason: "it has more than 16 MiB") }
        }
    }

    /// Writes a new file, syncs it to disk, and renames it.
    private func replace(with json: JSON) throws(CounterFileError) {
        do {
            var file = try NewFile(beside: path)
            try file.append(Array((json.text + "\n").utf8))
            try file.sync()
            try file.replace(path)
        } catch { throw .unwritable(path: path, reason: error.reason) }
        NewFile.syncFolder(of: path)
    }

    private static var failure: String { String(cString: strerror(errno)) }
}

/// Why the file of counters could not be used.
public enum CounterFileError: Error, Hashable, Sendable {
    /// Another program has locked it.
    case inUse(path: String)
    /// It could not be read.
    case unreadable(path: String, reason: String)
    /// It could not be written.
    case unwritable(path: String, reason: String)
    /// It is malformed. It is left unchanged, because without it old passwords would be accepted again.
    case broken(path: String, reason: String)
}
