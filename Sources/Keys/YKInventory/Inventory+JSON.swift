// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension Inventory {
    /// The value of the member `format`.
    public static let format = "ykit-inventory"
    /// The version of the format that is written; later formats have a higher one.
    public static let formatVersion: Int64 = 1

    private static let limit = 4 << 20
    private static let itemLimit = 10_000

    /// The inventory as a JSON object.
    public var json: JSONValue {
        [
            "format": .string(Self.format), "formatVersion": .int(Self.formatVersion),
            "key": [
                "name": .string(key.name), "serial": key.serial.json, "firmware": key.version.json,
            ],
            "time": .int(time), "timestamp": .string(UTCDate.timestamp(time)), "items": .array(items.map(\.json)),
            "kinds": .array(Kind.allCases.filter(kinds.contains).map { .string($0.rawValue) }),
            "gaps": .array(
                gaps.map { ["kind": .string($0.kind.rawValue), "reason": .string($0.reason.rawValue)] }),
        ]
    }

    /// Whether bytes are an inventory of any version, rather than another file.
    public static func isInventory(_ bytes: [UInt8]) -> Bool {
        bytes.count <= limit && (try? JSONValue(parsing: bytes))?["format"]?.string == format
    }

    /// Reads a saved inventory. Members that are not known are ignored.
    ///
    /// - Throws: ``InventoryError``.
    public init(parsing bytes: [UInt8]) throws(InventoryError) {
        guard bytes.count <= Self.limit else { throw .malformed("\(bytes.count) bytes") }
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .malformed(error.description) }
        guard json["format"]?.string == Self.format, let version = json["formatVersion"]?.int else {
            throw .malformed("the member 'format' is not \(Self.format)")
        }
        guard version == Self.formatVersion else { throw .version(version) }
        guard let name = json["key"]?["name"]?.string, let time = json["time"]?.int else {
            throw .malformed("the members 'key' and 'time' are missing")
        }
        guard let entries = (json["items"] ?? .array([])).array else {
            throw .malformed("the member 'items' is not a list")
        }
        guard entries.count <= Self.itemLimit else { throw .malformed("\(entries.count) items") }
        var items: [Item] = []
        let names = (json["kinds"]?.array ?? Self.firstKinds.map { .string($0.rawValue) }).compactMap(\.string)
        // Kinds that a later version added.
        var others = Set(names.filter { Kind(rawValue: $0) == nil })
        for entry in entries {
            if let name = entry["kind"]?.string, Kind(rawValue: name) == nil {
                others.insert(name)
            } else {
                items.append(try Item(entry))
            }
        }
        var gaps: [Gap] = []
        for entry in json["gaps"]?.array ?? [] {
            guard let kind = Kind(rawValue: entry["kind"]?.string ?? "") else { continue }
            gaps.append(Gap(kind, Gap.Reason(rawValue: entry["reason"]?.string ?? "") ?? .failed))
        }
        self.init(
            key: InventoriedKey(
                name: name, serial: json["key"]?["serial"]?.string, version: json["key"]?["firmware"]?.string),
            time: time, items: items, gaps: gaps, kinds: Set(names.compactMap(Kind.init)))
        otherKinds = others
    }

    /// The kinds of inventories without the member `kinds`.
    private static let firstKinds: [Kind] = [.passkey, .oath, .piv, .openPGP, .ssh, .age, .pamU2F, .luks]
}

extension Inventory.Item {
    fileprivate init(_ json: JSONValue) throws(InventoryError) {
        guard let kind = json["kind"]?.string.flatMap(Inventory.Kind.init), let target = json["target"]?.string,
            let name = json["name"]?.string
        else { throw .malformed("an item without a known 'kind', 'target' and 'name'") }
        self.init(
            kind, target, name: name, mark: json["mark"]?.string, relyingParty: json["relyingParty"]?.string)
    }

    fileprivate var json: JSONValue {
        [
            "kind": .string(kind.rawValue), "target": .string(target), "name": .string(name), "mark": mark.json,
            "relyingParty": relyingParty.json,
        ]
    }
}

extension String? {
    fileprivate var json: JSONValue { map(JSONValue.string) ?? .null }
}

/// Why a file is not a usable inventory.
public enum InventoryError: Error, Hashable, Sendable {
    /// It is malformed.
    case malformed(String)
    /// Its format version is not supported by this library.
    case version(Int64)
}
