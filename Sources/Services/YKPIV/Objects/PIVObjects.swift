// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKWire

/// ykman's administrative data about PIN, PUK and management key (object 5FFF00, tag 80).
public struct PIVAdministration: Hashable, Sendable {
    /// The flags; unknown bits are kept.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Wraps bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// The PUK was blocked on purpose.
        public static let pukBlocked = Flags(rawValue: 1)
        /// The management key is stored in the printed object, which requires the PIN.
        public static let keyStored = Flags(rawValue: 2)
    }

    /// The flags.
    public var flags: Flags = []
    /// The salt from which old versions, with the PIN, derived the management key.
    public var salt: [UInt8]?
    /// The time of the last PIN change, in seconds since 1970.
    public var pinChanged: UInt32?

    /// Creates empty data.
    public init() {}

    /// Whether the PIN protects the management key.
    public var isKeyProtected: Bool { flags.contains(.keyStored) || salt != nil }

    /// Reads the content of the object, which may be empty.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        guard !bytes.isEmpty else { return }
        var reader = ByteReader(bytes)
        var inner = try reader.tlv(0x80, "the notes")
        try reader.finish("the notes")
        let objects = try inner.tlvs()
        if let value = objects.value(0x81) {
            guard value.count == 1 else { throw WireError(.malformed, at: 0, "flags of \(value.count) bytes") }
            flags = Flags(rawValue: value[0])
        }
        salt = objects.value(0x82)
        if let value = objects.value(0x83) {
            guard value.count == 4 else { throw WireError(.malformed, at: 0, "a time of \(value.count) bytes") }
            pinChanged = value.reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The content of the object; empty if there is nothing to store.
    public var encoded: [UInt8] {
        var objects: [TLV] = []
        if !flags.isEmpty { objects.append(TLV(0x81, [flags.rawValue])) }
        if let salt { objects.append(TLV(0x82, salt)) }
        if let pinChanged {
            var writer = ByteWriter()
            writer.bigEndian(UInt64(pinChanged), 4)
            objects.append(TLV(0x83, writer.bytes))
        }
        return objects.isEmpty ? [] : TLV(0x80, objects.encoded).encoded
    }
}

/// The supported PINs (object 7E, NIST SP 800-73-4 Part 1 §3.3.2).
public struct DiscoveryObject: Hashable, Sendable {
    /// The application identifier.
    public let aid: [UInt8]
    /// The PIN usage policy: bit 40 application PIN, 20 global PIN, 10 on-card biometrics; in the second byte 10 the
    /// application PIN first, 20 the global PIN first.
    public let policy: [UInt8]

    /// Reads the content of the object.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        let objects = try TLV.list(bytes)
        aid = try objects.required(0x4F, "application identifier")
        policy = try objects.required(0x5F2F, "PIN usage policy")
        guard policy.count == 2 else { throw WireError(.malformed, at: 0, "a policy of \(policy.count) bytes") }
    }

    /// Whether the global PIN can be used instead of the application PIN.
    public var hasGlobalPIN: Bool { (policy.first ?? 0) & 0x20 != 0 }
}

/// The PIN-protected management key (printed object, tag 88): the key under tag 89, as ykman stores it.
///
/// During a change of the key, tag 8A holds the old or new key, so that the PIN gives access to the card's key
/// whichever of the two the card has.
struct ProtectedKey {
    /// The keys, the more likely one first.
    var keys: [SharedSecret]

    init(_ keys: [SharedSecret]) { self.keys = keys }

    /// Reads the content of the object; an empty one has no key.
    init(decoding bytes: [UInt8]) throws(WireError) {
        keys = []
        guard !bytes.isEmpty else { return }
        var reader = ByteReader(bytes)
        var inner = try reader.tlv(0x88, "the protected data")
        try reader.finish("the protected data")
        let objects = try inner.tlvs()
        keys = [0x89, 0x8A].compactMap { tag in objects.value(tag).map { SharedSecret(Secret($0)) } }
    }

    /// Whether the printed object has other content, such as the printed information of SP 800-73-4.
    static func isForeign(_ content: [UInt8]?) -> Bool {
        guard let content, !content.isEmpty else { return false }
        do { _ = try ProtectedKey(decoding: content) } catch { return true }
        return false
    }

    /// The content of the object; wipe it afterwards.
    var encoded: [UInt8] {
        let objects = zip([0x89, 0x8A], keys).map { tag, key in TLV(tag, key.value.copyBytes()) }
        return objects.isEmpty ? [] : TLV(0x88, objects.encoded).encoded
    }
}
