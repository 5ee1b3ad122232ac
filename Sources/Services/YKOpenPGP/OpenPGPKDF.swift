// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKProtocols
package import YKWire

/// The key derivation of PINs before they are sent (KDF-DO F9, OpenPGP card 3.4 §4.3.2).
public struct OpenPGPKDF: Sendable, Hashable {
    /// A PIN or code; each may have its own salt.
    public enum Reference: Sendable, Hashable {
        /// The user PIN.
        case user
        /// The reset code.
        case reset
        /// The admin PIN.
        case admin

        /// Its name.
        package var title: String {
            switch self {
            case .user: "user PIN"
            case .reset: "reset code"
            case .admin: "admin PIN"
            }
        }
    }

    /// SHA-256 or SHA-512.
    public let hash: HashAlgorithm
    /// The number of bytes that are hashed.
    public let count: Int
    private let salts: [TLV.Tag: [UInt8]]

    private typealias KDFTag = OpenPGPProtocol.KDFTag
    private typealias Value = OpenPGPProtocol.KDFValue

    /// The minimum count: a smaller one would truncate the PIN itself.
    static let leastCount = 100
    /// The maximum count, since these bytes are hashed for each PIN.
    static let greatestCount = 256 << 20

    /// Creates a derivation with three random salts of 8 bytes.
    ///
    /// - Throws: `malformed` for salts of another length, `tooLarge` for a count above the limit.
    package init(_ hash: HashAlgorithm, count: Int, user: [UInt8], reset: [UInt8], admin: [UInt8]) throws(WireError) {
        guard (Self.leastCount...Self.greatestCount).contains(count) else {
            throw WireError(.tooLarge, at: 0, "a key derivation over \(count) bytes")
        }
        guard [user, reset, admin].allSatisfy({ $0.count == 8 }), [.sha256, .sha512].contains(hash) else {
            throw WireError(.malformed, at: 0, "a salt has 8 bytes")
        }
        self.hash = hash
        self.count = count
        salts = [KDFTag.userSalt: user, KDFTag.resetSalt: reset, KDFTag.adminSalt: admin]
    }

    /// The encoded object, with the hashes of the initial PINs (tags 87 and 88).
    package func encoded(user: borrowing Secret, admin: borrowing Secret) -> [UInt8] {
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
        let salts = [KDFTag.userSalt, KDFTag.resetSalt, KDFTag.adminSalt].map { TLV($0, self.salts[$0] ?? []) }
        let hashes = [TLV(KDFTag.userHash, user.copyBytes()), TLV(KDFTag.adminHash, admin.copyBytes())]
        let hash = hash == .sha512 ? Value.sha512 : Value.sha256
        return
            ([
                TLV(KDFTag.algorithm, [Value.iteratedSalted]), TLV(KDFTag.hash, [hash]), TLV(KDFTag.count, digits),
            ] + salts + hashes).encoded
    }

    /// The object that disables the derivation.
    static let off = TLV(KDFTag.algorithm, [Value.none]).encoded

    /// Reads the object; `nil` if no KDF is used. An object wrapped in its own tag, as returned by some cards, is
    /// unwrapped.
    ///
    /// - Throws: `unsupported` for an unknown method or hash, `tooLarge` for a count above the limit.
    package init?(decoding bytes: [UInt8]) throws(WireError) {
        guard !bytes.isEmpty else { return nil }
        var objects = try TLV.list(bytes)
        if let inner = objects.value(Tag.kdf) { objects = try TLV.list(inner) }
        switch objects.value(KDFTag.algorithm) {
        case nil, []?, [Value.none]?: return nil
        case [Value.iteratedSalted]?: break
        default: throw WireError(.malformed, at: 0, "an unknown key derivation")
        }
        switch try objects.required(KDFTag.hash, "hash of the key derivation") {
        case [Value.sha256]: hash = .sha256
        case [Value.sha512]: hash = .sha512
        default: throw WireError(.malformed, at: 0, "an unknown hash of the key derivation")
        }
        let digits = try objects.required(KDFTag.count, "count of the key derivation")
        guard digits.count == 4 else { throw WireError(.malformed, at: 0, "a count has 4 bytes") }
        count = digits.reduce(0) { $0 << 8 | Int($1) }
        guard (Self.leastCount...Self.greatestCount).contains(count) else {
            throw WireError(.tooLarge, at: 0, "a key derivation over \(count) bytes")
        }
        var salts: [TLV.Tag: [UInt8]] = [:]
        for tag in [KDFTag.userSalt, KDFTag.resetSalt, KDFTag.adminSalt] { salts[tag] = objects.value(tag) }
        guard salts[KDFTag.userSalt]?.isEmpty == false else { throw WireError(.missing, at: 0, "no salt (tag 84)") }
        self.salts = salts
    }

    /// Returns the value sent instead of a PIN: the hash over salt and PIN, repeated and truncated to ``count`` bytes.
    public func derive(_ pin: borrowing Secret, _ reference: Reference) -> Secret {
        let tag: TLV.Tag =
            switch reference {
            case .user: KDFTag.userSalt
            case .reset: KDFTag.resetSalt
            case .admin: KDFTag.adminSalt
            }
        var unit = (salts[tag] ?? salts[KDFTag.userSalt] ?? []) + pin.copyBytes()
        defer { Secret.wipe(&unit) }
        var running = RunningHash(hash)
        var left = max(count, unit.count)
        while left > 0 {
            let piece = min(left, unit.count)
            unit.withUnsafeBytes { running.update(UnsafeRawBufferPointer(rebasing: $0[..<piece])) }
            left -= piece
        }
        var digest = running.digest
        defer { Secret.wipe(&digest) }
        return Secret(digest)
    }
}
