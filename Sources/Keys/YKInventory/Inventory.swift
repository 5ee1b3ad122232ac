// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a key opens, as far as the key and the files that refer to it reveal this. It contains no secrets, so it can be
/// saved and compared with another key while this one is in a safe.
public struct Inventory: Hashable, Sendable {
    /// The key.
    public var key: InventoriedKey
    /// When the inventory was made, in seconds since 1970.
    public var time: Int64
    /// The items that the key opens.
    public var items: [Item]
    /// The items that were not read.
    public var gaps: [Gap]
    /// The kinds of items that were looked for: for a saved inventory, those that its version of the library knew.
    public var kinds: Set<Kind>
    /// The kinds in a saved inventory that this version does not know.
    public var otherKinds: Set<String> = []

    /// Creates an inventory.
    public init(
        key: InventoriedKey, time: Int64, items: [Item] = [], gaps: [Gap] = [], kinds: Set<Kind> = Set(Kind.allCases)
    ) {
        (self.key, self.time, self.items, self.gaps, self.kinds) = (key, time, items, gaps, kinds)
    }

    /// The kinds of items.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A discoverable FIDO2 credential.
        case passkey
        /// An account with one-time passwords.
        case oath
        /// A key or certificate in a PIV slot.
        case piv
        /// An OpenPGP key.
        case openPGP = "openpgp"
        /// An SSH key, stored on the key or referred to by a file.
        case ssh
        /// A recipient of age, or a file for it.
        case age
        /// A login with pam_u2f.
        case pamU2F = "pam_u2f"
        /// A LUKS2 volume.
        case luks
        /// A slot of the OTP application: challenge-response, a Yubico OTP, a password.
        case otp
        /// A credential for a YubiHSM.
        case hsmAuth = "hsmauth"
        /// An entry of a Nitrokey's Secrets application.
        case secrets

        /// Whether items of two keys are the same only if their secrets are, rather than each key having its own.
        var isShared: Bool {
            switch self {
            case .oath, .otp, .hsmAuth, .secrets: true
            case .passkey, .piv, .openPGP, .ssh, .age, .pamU2F, .luks: false
            }
        }
    }

    /// One thing that the key opens.
    public struct Item: Hashable, Sendable {
        /// Its kind.
        public var kind: Kind
        /// What is opened: a relying party with the account's identifier, the name of an OATH account, a volume. Items
        /// of two keys are matched by it.
        public var target: String
        /// The display name.
        public var name: String
        /// What identifies the secret without revealing it: the fingerprint of a public key or credential, or two codes
        /// for times long past; `nil` if the key does not report it.
        public var mark: String?
        /// The relying party of a passkey.
        public var relyingParty: String?

        /// Creates an item.
        public init(_ kind: Kind, _ target: String, name: String, mark: String? = nil, relyingParty: String? = nil) {
            (self.kind, self.target, self.name) = (kind, target, name)
            (self.mark, self.relyingParty) = (mark, relyingParty)
        }
    }

    /// Items that were not read.
    public struct Gap: Hashable, Sendable {
        /// Why they were not read.
        public enum Reason: String, Sendable, Hashable {
            /// The PIN is required, and the list was not requested.
            case notRequested = "not-requested"
            /// A password protects them.
            case locked
            /// The key's answer was unexpected.
            case failed
            /// The key does not report whether an entry is its own.
            case unknown
        }

        /// The kind of the missing items.
        public var kind: Kind
        /// The reason.
        public var reason: Reason

        /// Creates a gap.
        public init(_ kind: Kind, _ reason: Reason) { (self.kind, self.reason) = (kind, reason) }
    }
}

/// The key that an inventory describes.
public struct InventoriedKey: Hashable, Sendable {
    /// The product's name.
    public var name: String
    /// The serial number, if the key has one.
    public var serial: String?
    /// The firmware version, if known.
    public var version: String?
}

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
