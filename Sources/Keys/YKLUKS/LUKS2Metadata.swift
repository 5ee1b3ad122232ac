// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// The key slots and tokens of a LUKS2 volume (LUKS2 On-Disk Format Specification, version 1.1.3 §3).
public struct LUKS2Metadata: Hashable, Sendable {
    /// The numbers of key slots and of tokens.
    public static let numbers = 0..<32

    /// A key slot: the volume key, encrypted with a passphrase.
    public struct Keyslot: Hashable, Sendable {
        /// Its number.
        public let number: Int
        /// The hash function for its passphrase: `argon2id`, `argon2i` or `pbkdf2`; `nil` for a slot of another type.
        public let kdf: String?
        /// Whether its passphrase opens the volume: slots without a segment hold other keys.
        public let opensVolume: Bool
    }

    /// The key slots, by number.
    public let keyslots: [Keyslot]
    /// The tokens, by number.
    public let tokens: [LUKSToken]
    /// The size of the area for key material, in bytes.
    public let keyslotsSize: Int
    /// Whether the metadata describe key slots: an excerpt may have tokens only.
    let hasKeyslots: Bool

    /// The format's limit of the area for key material, in bytes.
    private static let keyslotsLimit: Int64 = 128 << 20

    /// Reads the metadata, as stored in a header or printed by `cryptsetup luksDump --dump-json-metadata`.
    ///
    /// - Throws: `damaged`, or `notLUKS` for any other JSON.
    public init(_ json: JSONValue) throws(LUKSError) {
        guard let tokens = json["tokens"]?.object else { throw .notLUKS }
        let slots = json["keyslots"]?.object
        hasKeyslots = slots != nil
        let opening = try Self.opening(json["digests"]?.object)
        var keyslots: [Keyslot] = []
        for member in slots?.members ?? [] {
            let number = try Self.number(member.key)
            let isPlain = member.value["type"]?.string == "luks2"
            keyslots.append(
                Keyslot(
                    number: number, kdf: isPlain ? member.value["kdf"]?["type"]?.string : nil,
                    opensVolume: isPlain && opening.contains(number)))
        }
        var found: [LUKSToken] = []
        for member in tokens.members { found.append(try LUKSToken(try Self.number(member.key), member.value)) }
        self.keyslots = keyslots.sorted { $0.number < $1.number }
        self.tokens = found.sorted { $0.number < $1.number }
        let size = json["config"]?["keyslots_size"]?.string.flatMap { Int64($0) } ?? 0
        guard 0...Self.keyslotsLimit ~= size else { throw .damaged("an area for keys of \(size) bytes") }
        keyslotsSize = Int(size)
    }

    /// The slots that contain the key of a segment.
    private static func opening(_ digests: JSONValue.Object?) throws(LUKSError) -> Set<Int> {
        var opening: Set<Int> = []
        for digest in digests?.members ?? [] where digest.value["segments"]?.array?.isEmpty == false {
            for slot in digest.value["keyslots"]?.array ?? [] { opening.insert(try number(slot.string)) }
        }
        return opening
    }

    /// Parses the number of a slot or token from a string.
    static func number(_ text: String?) throws(LUKSError) -> Int {
        guard let number = text.flatMap({ Int($0) }), numbers.contains(number), "\(number)" == text else {
            throw .damaged("the number '\(text ?? "")' of a slot or token")
        }
        return number
    }

    /// The slot with this number.
    public func keyslot(_ number: Int) -> Keyslot? { keyslots.first { $0.number == number } }

    /// The tokens that name a slot.
    public func tokens(of slot: Int) -> [LUKSToken] { tokens.filter { $0.keyslots.contains(slot) } }

    /// The lowest free slot number.
    ///
    /// - Throws: `full`.
    public func freeKeyslot() throws(LUKSError) -> Int {
        guard let free = Self.numbers.first(where: { number in !keyslots.contains { $0.number == number } }) else {
            throw .full
        }
        return free
    }

    /// The lowest free token number.
    ///
    /// - Throws: `full`.
    public func freeToken() throws(LUKSError) -> Int {
        guard let free = Self.numbers.first(where: { number in !tokens.contains { $0.number == number } }) else {
            throw .full
        }
        return free
    }

    /// Checks that a slot can be removed: it exists, and another one opens the volume.
    ///
    /// - Throws: `noSuchSlot` or `lastSlot`.
    public func checkRemovable(_ slot: Int) throws(LUKSError) {
        guard keyslot(slot) != nil else { throw .noSuchSlot(slot) }
        guard keyslots.contains(where: { $0.number != slot && $0.opensVolume }) else { throw .lastSlot(slot) }
    }
}
