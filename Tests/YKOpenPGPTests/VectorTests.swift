// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

@testable import YKOpenPGP

/// The published vectors, each confirmed by two implementations, and recordings of a YubiKey 5.4.3.
@Suite struct VectorTests {
    @Test("a PIN is hashed over exactly as many bytes as the object says")
    func derivedPINs() throws {
        let references: [String: OpenPGPKDF.Reference] = ["user": .user, "reset": .reset, "admin": .admin]
        var least = 0
        for entry in try Bench.cases("kdf-s2k") {
            let count = try #require(entry["count"] as? Int)
            let digits = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            let hash = try #require(entry["hash_id"] as? UInt8)
            let salt = try Self.bytes(entry, "salt")
            let object = [
                TLV(0x81, [3]), TLV(0x82, [hash]), TLV(0x83, digits), TLV(0x84, salt), TLV(0x85, salt), TLV(0x86, salt),
            ].encoded
            guard count >= OpenPGPKDF.leastCount else {
                #expect(throws: WireError.self) { try OpenPGPKDF(decoding: object) }
                least += 1
                continue
            }
            let kdf = try #require(try OpenPGPKDF(decoding: object))
            let pin = Secret(try Self.bytes(entry, "pin_utf8"))
            let reference = try #require(references[entry["who"] as? String ?? ""])
            expect(Hex.encode(kdf.derive(pin, reference).copyBytes()), is: entry["output"] as? String)
        }
        expect(least, is: 1)
    }

    @Test("objects of a key derivation are read, and written as they were")
    func derivationObjects() throws {
        for entry in try Bench.cases("kdf-do") {
            let (name, data) = (try #require(entry["name"] as? String), try Self.bytes(entry, "data"))
            let kdf = try OpenPGPKDF(decoding: data)
            expect((kdf == nil), is: name.hasPrefix("off"), "\(name)")
            guard name == "three salts", let kdf else { continue }
            let user = kdf.derive(Secret(utf8: "123456"), .user)
            let admin = kdf.derive(Secret(utf8: "12345678"), .admin)
            expect(kdf.encoded(user: user, admin: admin), is: data)
        }
        let device = try Bench.vector("device-kdf")
        let kdf = try #require(try OpenPGPKDF(decoding: Self.bytes(device, "kdf_do")))
        let pins = try [("user", OpenPGPKDF.Reference.user), ("admin", .admin)].map { who, reference -> [UInt8] in
            let pin = Secret(utf8: try #require(device["\(who)_pin"] as? String))
            let hashed = kdf.derive(pin, reference).copyBytes()
            expect(Hex.encode(hashed), is: device["\(who)_hash"] as? String)
            return hashed
        }
        let object = kdf.encoded(user: Secret(pins[0]), admin: Secret(pins[1]))
        try expect(PutData(tag: 0xF9, value: object).apdu.encoded(.short), is: Self.bytes(device, "put_data"))
    }

    @Test("the input of DECIPHER")
    func decipherInput() async throws {
        for entry in try Bench.cases("decipher-input") {
            let name = try #require(entry["name"] as? String)
            let isRSA = name.hasPrefix("RSA")
            let type: OpenPGPKeyType =
                isRSA
                ? .rsa(bits: 2048)
                : name.hasPrefix("X25519") ? .x25519 : .curve(name.hasPrefix("P-256") ? .p256 : .p521)
            let log = ScriptedLink.Log()
            let service = try await ScriptedCard().with(0xC2, type.attributes(for: .decryption, among: []))
                .answering("002a8086", 0x6982).answering("102a8086", 0x9000).open(log)
            if isRSA {
                await #expect(throws: OpenPGPError.pinRequired(.user)) {
                    try await service.decrypt([UInt8](repeating: 0xC5, count: 256))
                }
            } else {
                let data = try Self.bytes(entry, "data")
                let inner = try #require(try TLV.list(TLV.list(data).required(0xA6, "cipher")).value(0x7F49))
                let point = try TLV.list(inner).required(0x86, "point")
                let peer: PublicKey =
                    switch type {
                    case .curve(let curve): .ec(curve, point: point)
                    default: .x25519(point)
                    }
                await #expect(throws: OpenPGPError.pinRequired(.user), "\(name)") {
                    try await service.derive(with: peer)
                }
            }
            // The data of the last command, in one extended APDU or chained short ones.
            var data: [UInt8] = []
            for command in log.commands where command[1] == 0x2A {
                data += try APDU(decoding: command).data
            }
            if isRSA {
                #expect(data.count == entry["length"] as? Int && data.first == 0)
            } else {
                try expect(data, is: Self.bytes(entry, "data"), "\(name)")
            }
        }
    }

    @Test("RSA signs a DigestInfo with the head of its hash")
    func digestInformation() async throws {
        let heads = try #require(try Bench.vector("digest-info")["cases"] as? [String: String])
        let modulus = [0xC0] + [UInt8](repeating: 1, count: 255)
        let key = TLV(0x7F49, [TLV(0x81, modulus), TLV(0x82, [1, 0, 1])].encoded).encoded
        for hash in HashAlgorithm.allCases {
            let log = ScriptedLink.Log()
            let service = try await ScriptedCard().answering("00478100", 0x9000, key).answering("002a9e9a", 0x6982)
                .open(log)
            await #expect(throws: OpenPGPError.pinRequired(.user)) { try await service.sign(.message([1]), hash: hash) }
            let command = try #require(log.commands.last { $0[1] == 0x2A })
            let head = try Hex.decode(try #require(heads["\(hash)"]))
            try expect(APDU(decoding: command).data, is: head + hash.hash([1]))
        }
    }

    @Test("what a second implementation reads in the application related data")
    func applicationRelatedData() throws {
        let vector = try Bench.vector("application-related-data")
        let status = try OpenPGPStatus(decoding: Self.bytes(vector, "data"))
        let read = try #require(vector["read"] as? [String: Any])
        expect(status.identity.version, is: (read["version"] as? [Int])?.map(String.init).joined(separator: "."))
        expect(status.identity.manufacturer, is: read["manufacturer"] as? UInt16)
        expect(status.identity.serial, is: (read["serial"] as? Int).map(String.init))
        expect(status.capabilities.first, is: read["flags"] as? UInt8)
        let pins = try #require(read["pw_status"] as? [Int])
        #expect(status.pins.signatureNeedsPIN == (pins[0] == 0) && status.pins.limits.user == pins[1])
        #expect(status.pins.retries == (pins[2], pins[3], pins[4]) && status.keys.count == 4)
        for entry in try Bench.cases("aid") {
            let identity = try OpenPGPIdentity(aid: Self.bytes(entry, "data"))
            let serial = (entry["serial_bcd"] as? Int).map(String.init) ?? entry["serial_hex"] as? String
            #expect(identity.serial == serial && identity.version == entry["version"] as? String)
            expect(identity.manufacturer, is: entry["manufacturer"] as? UInt16)
        }
    }

    @Test("fingerprints of keys that a YubiKey generated")
    func deviceFingerprints() throws {
        for entry in try Bench.cases("device-fingerprints") {
            let name = try #require(entry["name"] as? String)
            let types: [String: OpenPGPKeyType] = [
                "EdDSA/Ed25519": .ed25519, "ECDH/X25519": .x25519, "RSA/2048": .rsa(bits: 2048),
            ]
            let curves: [String: VerificationKey.Curve] = ["p256r1": .p256, "p384r1": .p384, "p521r1": .p521]
            let type = try #require(
                types[name] ?? curves.first { name.hasSuffix("ANSIx9" + $0.key) }.map { .curve($0.value) })
            let slot: OpenPGPSlot = name.hasPrefix("ECDH") ? .decryption : .signature
            var reader = ByteReader(Array(try Self.bytes(entry, "generate_response").dropLast(2)))
            let key = try KeyPair(slot: slot, type: type, generates: true).decode(&reader)
            let created = try Self.bytes(entry, "created").reduce(0) { $0 << 8 | Int64($1) }
            let fingerprint = OpenPGPPublicKey(key, in: slot, created: created).fingerprint
            expect(Hex.encode(fingerprint), is: entry["fingerprint"] as? String, "\(name)")
        }
    }

    @Test("signatures of a YubiKey are accepted, in the form of the standard, and no other ones")
    func deviceSignatures() async throws {
        let vector = try Bench.vector("device-signatures")
        let (ed25519, p256) = (try Self.bytes(vector, "ed25519_public"), try Self.bytes(vector, "p256_public"))
        for (type, point, digest) in [(OpenPGPKeyType.ed25519, ed25519, "message"), (.curve(.p256), p256, "digest")] {
            let entries = try #require(
                vector[type == .ed25519 ? "ed25519" : "p256"] as? [[String: Any]])
            for entry in entries {
                let bytes = try Self.bytes(entry, digest)
                let hash = try #require(HashAlgorithm.allCases.first { $0.digestSize == bytes.count })
                var signature = try Self.bytes(entry, "signature")
                func sign() async throws -> ([UInt8], [[UInt8]]) {
                    let log = ScriptedLink.Log()
                    let service = try await ScriptedCard()
                        .with(0xC1, type.attributes(for: .signature, among: []))
                        .answering("00478100", 0x9000, TLV(0x7F49, TLV(0x86, point).encoded).encoded)
                        .answering("002a9e9a", 0x9000, signature).open(log)
                    return (try await service.sign(.digest(bytes), hash: hash), log.commands)
                }
                let (made, commands) = try await sign()
                let sent = try #require(commands.first { $0[1] == 0x2A })
                // Digests are cut to the curve's size here; the card did the same.
                let wanted = type == .ed25519 ? bytes : Array(bytes.prefix(32))
                try expect(APDU(decoding: sent).data, is: wanted)
                if type == .ed25519 {
                    expect(made, is: signature)
                } else {
                    let numbers = try TLV.list(TLV.list(made).required(0x30, "signature")).map { $0.value }
                    expect(numbers.flatMap { $0.padded(to: 32) }, is: signature)
                }
                signature[40] ^= 1
                await #expect(throws: OpenPGPError.wrongSignature(.signature)) { try await sign() }
            }
        }
    }

    @Test("objects recorded on a YubiKey")
    func deviceObjects() throws {
        let vector = try Bench.vector("device-objects")
        let status = try OpenPGPStatus(decoding: Self.bytes(vector, "application_related_data"))
        #expect(status.identity.serial == "23852774" && status.keys.count == 4)
        expect(status.pins, is: (try OpenPGPPINStatus(decoding: Self.bytes(vector, "pw_status"))))
        let list = try AlgorithmInformation(decoding: Self.bytes(vector, "algorithm_information"))
        let types = (list.attributes[0xC1] ?? []).compactMap { OpenPGPKeyType(OpenPGPAlgorithm(attributes: $0)) }
        #expect(
            types.starts(with: [.rsa(bits: 2048), .rsa(bits: 3072), .rsa(bits: 4096), .curve(.p256), .curve(.p384)]))
        let holder = try OpenPGPCardholder(
            related: Self.bytes(vector, "cardholder_related_data"), login: [], url: [])
        #expect(holder.name == nil && holder.languages.isEmpty)
        try expect(OpenPGPKDF(decoding: Self.bytes(vector, "kdf")), is: nil)
    }

    @Test("a statement of the published layout leads to its root, and to no other")
    func attestation() throws {
        let vector = try Bench.vector("attestation-example")
        let device = try X509Certificate(der: Self.bytes(vector, "attestation_certificate"))
        let statement = try X509Certificate(der: Self.bytes(vector, "statement"))
        let root = PublicKey.ec(.p256, point: try Self.bytes(vector, "root_public"))
        let signer = try #require(device.publicKey)
        #expect(device.isSigned(by: root) && statement.isSigned(by: signer))
        #expect(!statement.isSigned(by: root))
        for entry in try #require(vector["extensions"] as? [[String: Any]]) {
            let oid = try #require(entry["oid"] as? String).split(separator: ".").compactMap { Int($0) }
            let content = [0x2B, 6, 1, 4, 1] + [0x82, 0xC4, 0x0A] + oid.suffix(2).map { UInt8($0) }
            let encoded = TLV(0x06, content).encoded + TLV(0x04, try Self.bytes(entry, "value")).encoded
            #expect(statement.der.firstRange(of: encoded) != nil)
        }
    }

    private static func bytes(_ entry: [String: Any], _ member: String) throws -> [UInt8] {
        try Hex.decode(try #require(entry[member] as? String))
    }
}
