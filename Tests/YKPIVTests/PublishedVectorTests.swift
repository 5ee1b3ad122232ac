// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// `Tests/Fixtures/piv/vectors.jsonl`: vectors of RSA Laboratories, NIST and RFCs; those with a private key are put
/// onto the virtual key, which does the private operation.
struct PublishedVectorTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let json: JSONValue
        var kind: String { json["kind"]?.string ?? "" }
        var testDescription: String { "\(kind) \(json["source"]?.string ?? "") \(json["curve"]?.string ?? "")" }
        func bytes(_ key: String) throws -> [UInt8] { try Hex.decode(try #require(json[key]?.string)) }
        var hash: HashAlgorithm {
            ["sha1": .sha1, "sha256": .sha256, "sha384": .sha384][json["hash"]?.string ?? ""] ?? .sha512
        }
        var curve: VerificationKey.Curve { json["curve"]?.string == "P-256" ? .p256 : .p384 }

        /// The private key, as the card is given it.
        func key() throws -> PrivateKey {
            switch kind {
            case "ed25519": return try PrivateKey(ed25519: Secret(try bytes("d")))
            case "x25519": return try PrivateKey(x25519: Secret(try bytes("d")))
            case "ecdsa", "ecdh": return try PrivateKey(curve, scalar: Secret(try bytes("d")))
            default: break
            }
            let numbers = try ["p", "q", "dp", "dq", "qi"].map { try bytes($0) }
            let size = numbers.map(\.count).max() ?? 0
            return try PrivateKey(
                remainders: numbers.map { [UInt8](repeating: 0, count: size - $0.count) + $0 })
        }
    }

    static func vectors(_ kinds: String...) -> [Vector] {
        let lines = String(decoding: Recordings.fixture("piv/vectors.jsonl"), as: UTF8.self).split(separator: "\n")
        let all = lines.compactMap { try? JSONValue(parsing: String($0)) }.map(Vector.init)
        return all.filter { kinds.contains($0.kind) }
    }

    private func card(_ vector: Vector, _ slot: PIVSlot) async throws -> (PIVService, PublicKey) {
        let service = try await Bench().manage()
        let key = try vector.key()
        _ = try await service.importKey(key, slot, policies: KeyPolicies(pin: .never))
        try await expect(service.publicKey(slot), is: key.publicKey)
        return (service, key.publicKey)
    }

    @Test func allAreThere() {
        expect(Self.vectors("rsa-sign", "rsa-pss", "rsa-decrypt", "rsa-oaep", "rsa-verify").count, is: 48)
        expect(Self.vectors("ecdsa", "ecdh", "ed25519", "x25519").count, is: 30)
    }

    @Test(arguments: PublishedVectorTests.vectors("rsa-sign", "ed25519"))
    func signsTheSame(_ vector: Vector) async throws {
        let (service, _) = try await card(vector, .authentication)
        let message = try vector.bytes("message")
        try await expect(
            service.sign(.message(message), .authentication, hash: vector.hash), is: vector.bytes("result"))
    }

    @Test(arguments: PublishedVectorTests.vectors("rsa-pss"))
    func padsTheSame(_ vector: Vector) async throws {
        let (service, key) = try await card(vector, .authentication)
        let message = try vector.bytes("message")
        let size = try vector.bytes("result").count
        let block = try RSAPadding.pss(
            digest: vector.hash.hash(message), vector.hash, salt: vector.bytes("salt"), size: size)
        try expect(vector.key().rsaPrivate(block), is: vector.bytes("result"))
        #expect(key.isValid(try vector.bytes("result"), for: message, vector.hash, .pss))
        let ours = try await service.sign(.message(message), .authentication, hash: vector.hash, padding: .pss)
        #expect(key.isValid(ours, for: message, vector.hash, .pss))
    }

    @Test(arguments: PublishedVectorTests.vectors("rsa-decrypt", "rsa-oaep"))
    func decryptsTheSame(_ vector: Vector) async throws {
        let (service, _) = try await card(vector, .keyManagement)
        let padding: DecryptionPadding = vector.kind == "rsa-oaep" ? .oaep(vector.hash) : .pkcs1
        let opened = try await service.decrypt(try vector.bytes("result"), .keyManagement, padding: padding)
        try expect(opened.value.copyBytes(), is: vector.bytes("message"))
    }

    @Test(arguments: PublishedVectorTests.vectors("rsa-verify"))
    func verifiesRSA(_ vector: Vector) throws {
        let key = PublicKey.rsa(modulus: try vector.bytes("n"), exponent: try vector.bytes("e"))
        let message = try vector.bytes("message")
        let padding: PublicKey.Padding = vector.json["padding"]?.string == "pss" ? .pss : .default
        #expect(key.isValid(try vector.bytes("result"), for: message, vector.hash, padding))
        #expect(!key.isValid(try vector.bytes("result"), for: message + [0], vector.hash, padding))
    }

    @Test(arguments: PublishedVectorTests.vectors("ecdsa"))
    func signsOnCurves(_ vector: Vector) async throws {
        let (service, key) = try await card(vector, .authentication)
        expect(key, is: .ec(vector.curve, point: [4] + (try vector.bytes("x")) + (try vector.bytes("y"))))
        let message = try vector.bytes("message")
        let numbers = try ["r", "s"].map { try number(vector.bytes($0)) }.joined()
        let signature = TLV(0x30, Array(numbers)).encoded
        #expect(key.isValid(signature, for: message, vector.hash))
        let ours = try await service.sign(.message(message), .authentication, hash: vector.hash)
        #expect(key.isValid(ours, for: message, vector.hash))
    }

    private func number(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return TLV(0x02, digits[0] & 0x80 == 0 ? digits : [0] + digits).encoded
    }

    @Test(arguments: PublishedVectorTests.vectors("ecdh", "x25519"))
    func agreesOnTheSame(_ vector: Vector) async throws {
        let (service, _) = try await card(vector, .keyManagement)
        let x = try vector.bytes("x")
        let peer: PublicKey =
            if vector.kind == "x25519" { .x25519(x) } else {
                .ec(vector.curve, point: [4] + x + (try vector.bytes("y")))
            }
        let secret = try await service.derive(with: peer, .keyManagement)
        try expect(secret.value.copyBytes(), is: vector.bytes("result"))
    }

    @Test(arguments: [HashAlgorithm.sha1, .sha256, .sha384, .sha512])
    func hashesPieceByPiece(_ hash: HashAlgorithm) {
        let message = (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var running = RunningHash(hash)
        expect(running.digest, is: hash.hash([]))
        for start in stride(from: 0, to: message.count, by: 333) {
            running.update(Array(message[start..<min(start + 333, message.count)]))
        }
        #expect(running.digest == hash.hash(message) && running.algorithm == hash)
        let copy = running
        running.update([1])
        #expect(copy.digest == hash.hash(message) && running.digest == hash.hash(message + [1]))
    }
}
