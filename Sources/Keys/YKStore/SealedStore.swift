// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The content of a store: the keys that open it, its records, and settings that are not secret.
public struct SealedStore: Hashable, Sendable {
    /// The service that uses the store, such as `securid`.
    public let service: String
    /// The keys that open it.
    public private(set) var seals: [StoreSeal] = []
    /// The records in the order of addition.
    public private(set) var records: [StoreRecord] = []
    /// Values that are not secret and not authenticated.
    public var settings = JSONValue.Object()

    static let mark = "ykit-store"
    static let version: Int64 = 1
    /// Maximum number of seals and records.
    private static let sealLimit = 64
    private static let recordLimit = 100_000

    /// Creates an empty store.
    public init(service: String) { self.service = service }

    /// Adds a key.
    public mutating func add(_ seal: StoreSeal) { seals.append(seal) }

    /// Removes a key by its identifier, or by its name if that is unique.
    ///
    /// - Throws: `noSuchKey`, or `lastKey` if it is the only one and there are records.
    public mutating func removeSeal(_ name: String) throws(StoreError) -> StoreSeal {
        let matches = WholeMatch(name, in: seals).all
        guard let match = matches.first, matches.count == 1 else { throw .noSuchKey(name) }
        if seals.count == 1, !records.isEmpty { throw .lastKey }
        seals.removeAll { $0.id == match.id }
        return match
    }

    /// Adds a record, or replaces the one with the same identifier.
    public mutating func put(_ record: StoreRecord) {
        if let index = records.firstIndex(where: { $0.id == record.id }) {
            records[index] = record
        } else {
            records.append(record)
        }
    }

    /// Adds records with new identifiers.
    public mutating func append(_ new: [StoreRecord]) { records += new }

    /// Removes a record.
    public mutating func remove(_ id: String) { records.removeAll { $0.id == id } }

    /// Removes all records and all keys; keeps the settings.
    public mutating func clear() {
        seals = []
        records = []
    }

    /// The content as JSON.
    public var json: JSONValue {
        [
            Self.mark: .int(Self.version), "service": .string(service), "settings": .object(settings),
            "keys": .array(seals.map(\.json)), "records": .array(records.map(\.json)),
        ]
    }

    /// Reads the content of a file; `path` is for errors only.
    ///
    /// - Throws: `malformed`, or `laterVersion`.
    public init(parsing bytes: [UInt8], service: String, path: String) throws(StoreError) {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .malformed(path: path, reason: "\(error)") }
        guard let version = json[Self.mark]?.int else { throw .malformed(path: path, reason: "not a store of ykit") }
        guard version == Self.version else { throw .laterVersion(path: path, version) }
        guard json["service"]?.string == service else {
            throw .malformed(path: path, reason: "a store for another service")
        }
        guard let keys = json["keys"]?.array, let records = json["records"]?.array,
            let settings = json["settings"]?.object, keys.count <= Self.sealLimit, records.count <= Self.recordLimit
        else { throw .malformed(path: path, reason: "a member is missing") }
        self.service = service
        self.settings = settings
        for json in keys {
            guard let seal = StoreSeal(json) else { throw .malformed(path: path, reason: "a key cannot be read") }
            seals.append(seal)
        }
        for json in records {
            guard let record = StoreRecord(json) else {
                throw .malformed(path: path, reason: "a record cannot be read")
            }
            self.records.append(record)
        }
        guard Set(self.records.map(\.id)).count == records.count, Set(seals.map(\.id)).count == keys.count else {
            throw .malformed(path: path, reason: "a duplicate identifier")
        }
    }
}
