// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKCrypto

/// Signatures of ML-DSA with an empty context, and one for each flaw that Wycheproof's vectors have: by ykit's own code, and
/// by OpenSSL if it is 3.5.
struct MLDSATests {
    typealias Maker = @Sendable (VerificationKey.MLDSA, [UInt8]) throws(CryptoFault) -> VerificationKey

    /// Ways to make a key.
    static let makers: [Maker] = {
        let own: Maker = { set, bytes throws(CryptoFault) in try VerificationKey(ownMLDSA: set, bytes) }
        let openSSL: Maker = { set, bytes throws(CryptoFault) in try VerificationKey(mlDSA: set, bytes) }
        let isOpenSSLs = VerificationKey.MLDSA.mlDSA44.openSSLKey([UInt8](repeating: 0, count: 1312)) != nil
        return isOpenSSLs ? [own, openSSL] : [own]
    }()

    private struct Vector {
        let name: String
        let set: VerificationKey.MLDSA
        let key: [UInt8]
        let message: [UInt8]
        let signature: [UInt8]
        let isValid: Bool

        func accepts(
            _ make: Maker, key: [UInt8]? = nil, message: [UInt8]? = nil, signature: [UInt8]? = nil
        ) -> Bool {
            let key = try? make(set, key ?? self.key)
            return key?.isValid(signature ?? self.signature, for: message ?? self.message) ?? false
        }
    }

    private static let sets: [String: VerificationKey.MLDSA] =
        ["ML-DSA-44": .mlDSA44, "ML-DSA-65": .mlDSA65, "ML-DSA-87": .mlDSA87]

    private func vectors() throws -> [Vector] {
        let groups = try #require(try JSONValue(parsing: Recordings.fixture("mldsa.json"))["groups"]?.array)
        return try groups.flatMap { group in
            let name = group["set"]?.string ?? ""
            return try #require(group["cases"]?.array).map { entry in
                Vector(
                    name: "\(name) \(entry["id"]?.int ?? 0): \(entry["what"]?.string ?? "")",
                    set: try #require(Self.sets[name]), key: try Hex.decode(group["key"]?.string ?? ""),
                    message: try Hex.decode(entry["message"]?.string ?? ""),
                    signature: try Hex.decode(entry["signature"]?.string ?? ""),
                    isValid: entry["valid"] == .bool(true))
            }
        }
    }

    @Test(arguments: makers.indices) func agreesWithWycheproof(_ maker: Int) throws {
        for vector in try vectors() {
            expect(vector.accepts(Self.makers[maker]), is: vector.isValid, "\(vector.name)")
        }
    }

    @Test(arguments: makers.indices) func refusesEveryChange(_ maker: Int) throws {
        let make = Self.makers[maker]
        for vector in try vectors() where vector.isValid {
            let (key, signature) = (vector.key, vector.signature)
            #expect(!vector.accepts(make, message: vector.message + [0]), "\(vector.name)")
            for position in stride(from: 0, to: signature.count, by: signature.count / 40) {
                var changed = signature
                changed[position] ^= 0x10
                #expect(!vector.accepts(make, signature: changed), "\(vector.name), byte \(position) of the signature")
            }
            for position in stride(from: 0, to: key.count, by: key.count / 10) {
                var changed = key
                changed[position] ^= 0x01
                #expect(!vector.accepts(make, key: changed), "\(vector.name), byte \(position) of the key")
            }
            for changed in [[], [0], signature + [0], Array(signature.dropLast())] {
                #expect(!vector.accepts(make, signature: changed), "\(vector.name), \(changed.count) bytes")
            }
        }
    }

    /// Repeated bytes as keys and signatures of the right lengths.
    @Test(arguments: [UInt8(0x00), 0x55, 0xFF], makers.indices) func refusesFilling(_ byte: UInt8, _ maker: Int) throws
    {
        for (set, keySize, size) in [
            (VerificationKey.MLDSA.mlDSA44, 1312, 2420), (.mlDSA65, 1952, 3309), (.mlDSA87, 2592, 4627),
        ] {
            let key = try Self.makers[maker](set, [UInt8](repeating: byte, count: keySize))
            for filling: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
                // No hints.
                let hints = [UInt8](repeating: 0, count: 84)
                #expect(!key.isValid([UInt8](repeating: filling, count: size), for: []))
                #expect(!key.isValid([UInt8](repeating: filling, count: size - hints.count) + hints, for: []))
            }
        }
    }

    @Test(arguments: makers.indices) func refusesKeysOfOtherLengths(_ maker: Int) {
        for (set, size) in [(VerificationKey.MLDSA.mlDSA44, 1312), (.mlDSA65, 1952), (.mlDSA87, 2592)] {
            for other in [0, 1, size - 1, size + 1, 1312 + 1952 + 2592 - size] {
                #expect(throws: CryptoFault("ML-DSA: not a public key")) {
                    try Self.makers[maker](set, [UInt8](repeating: 0, count: other))
                }
            }
        }
    }

    /// Longer outputs than any vector needs.
    @Test(arguments: [SHAKE.shake128, .shake256]) func continuesStream(_ function: SHAKE) {
        var stream = SHAKE.Stream(function, of: [1, 2, 3])
        expect((0..<3000).map { _ in stream.next() }, is: function.hash([1, 2, 3], 3000))
    }
}
