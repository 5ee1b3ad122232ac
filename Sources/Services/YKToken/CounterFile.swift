// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// A file with the latest counter of each key: JSON, mode 0600, replaced atomically under a lock.
///
/// A counter is on disk before ``advance(_:to:)`` returns, so that a crash cannot make an accepted password valid
/// again. The lock is a separate file next to it (`.lock`), which is never deleted.
public struct CounterFile: CounterStore, Sendable {
    private let file: SharedFile
    private static let mark = "ykit-otp-counters"
    private static let format: Int64 = 1

    /// Its path.
    public var path: String { file.path }

    /// Creates a store for a path; the file is opened when first needed.
    ///
    /// - Parameter patience: How long to wait for another program's lock.
    public init(_ path: String, patience: Duration = .seconds(5)) {
        file = SharedFile(path, limit: 16 << 20, patience: patience, followsLinks: false)
    }

    /// Stores a counter if it is higher than the one in the file.
    public func advance(_ publicID: [UInt8], to counter: OTPCounter) throws(CounterFileError) -> OTPCounter? {
        try file.locked(CounterFileError.file) { () throws(CounterFileError) in
            var entries = try entries()
            let name = Modhex.encode(publicID)
            var previous: OTPCounter?
            if let known = entries[name] { previous = try self.counter(in: known, name) }
            if let previous, previous >= counter { return previous }
            entries[name] = ["use": .int(Int64(counter.use)), "session": .int(Int64(counter.session))]
            let json: JSONValue = [Self.mark: .int(Self.format), "keys": .object(entries)]
            do throws(SharedFileError) { try file.replace(with: json) } catch { throw .file(error) }
            return previous
        }
    }

    private func entries() throws(CounterFileError) -> JSONValue.Object {
        let bytes: [UInt8]?
        do { bytes = try file.read() } catch { throw .file(error) }
        guard let bytes else { return JSONValue.Object() }
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .broken(path: path, reason: "\(error)") }
        guard let format = json[Self.mark]?.int, format == Self.format, let keys = json["keys"]?.object else {
            throw .broken(path: path, reason: "this is not a counter file, or was written by a later version of ykit")
        }
        return keys
    }

    private func counter(in json: JSONValue, _ name: String) throws(CounterFileError) -> OTPCounter {
        guard let use = json["use"]?.int.flatMap(UInt16.init(exactly:)),
            let session = json["session"]?.int.flatMap(UInt8.init(exactly:))
        else { throw .broken(path: path, reason: "the counter of '\(name)' is malformed") }
        return OTPCounter(use: use, session: session)
    }
}

/// Why the counter file could not be used.
public enum CounterFileError: Error, Hashable, Sendable {
    /// It could not be read or written, or another program uses it.
    case file(SharedFileError)
    /// It is malformed. It is left unchanged, because without it old passwords would be accepted again.
    case broken(path: String, reason: String)
}
