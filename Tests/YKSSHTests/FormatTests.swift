// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSSH

/// Files that ssh-keygen (OpenSSH 9.2) wrote.
enum Vectors {
    static func bytes(_ name: String) throws -> [UInt8] {
        let url = try #require(Bundle.module.url(forResource: "vectors/\(name)", withExtension: nil))
        return Array(try Data(contentsOf: url))
    }

    static func text(_ name: String) throws -> String {
        String(decoding: try bytes(name), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    static func key(_ name: String) throws -> SSHPublicKey { try SSHPublicKey.parse(line: text("\(name).pub")).key }
}

/// Public keys, key files and signatures in OpenSSH's forms.
struct FormatTests {
    static let usual = ["ed25519", "rsab2048", "ecdsab256", "ecdsab384", "ecdsab521"]

    @Test(arguments: usual + ["sk_ed25519", "sk_ecdsa"]) func publicKeysComeBackAsTheyWere(name: String) throws {
        let line = try Vectors.text("\(name).pub")
        let (key, comment) = try SSHPublicKey.parse(line: line)
        expect(key.line(comment: comment), is: line)
        try expect(SSHPublicKey(blob: key.blob), is: key)
        for count in 0..<key.blob.count {
            #expect(throws: SSHError.self) { try SSHPublicKey(blob: Array(key.blob.prefix(count))) }
        }
        #expect(throws: SSHError.self) { try SSHPublicKey(blob: key.blob + [0]) }
    }

    @Test func fingerprintsAreThoseOfSSHKeygen() throws {
        let known = try Vectors.text("fingerprints").split(separator: "\n").map(String.init)
        try expect(Self.usual.map { try Vectors.key($0).fingerprint }, is: known)
    }

    @Test(arguments: usual) func acceptsSignaturesOfSSHKeygen(name: String) throws {
        let signed = try SSHFileSignature(parsing: try Vectors.bytes("\(name).sig"))
        #expect(try signed.publicKey == Vectors.key(name) && signed.namespace == "file")
        let digest = signed.hash.hash(try Vectors.bytes("message"))
        #expect(signed.isValid(digest: digest))
        expect(signed.text, is: String(decoding: try Vectors.bytes("\(name).sig"), as: UTF8.self))
        var other = digest
        other[0] ^= 1
        #expect(!signed.isValid(digest: other) && !signed.isValid(digest: []))
        let elsewhere = SSHFileSignature(
            publicKey: signed.publicKey, namespace: "git", hash: signed.hash, signature: signed.signature)
        #expect(!elsewhere.isValid(digest: digest))
        let wire = signed.signature.wire
        try expect(SSHSignature(wire: wire), is: signed.signature)
        for count in 0..<wire.count {
            #expect(throws: SSHError.self) { try SSHSignature(wire: Array(wire.prefix(count))) }
        }
    }

    @Test func aSignatureOfOneKeyIsNotThatOfAnother() throws {
        let message = SSHFileSignature.signedData(
            namespace: "file", hash: .sha512, digest: HashAlgorithm.sha512.hash(try Vectors.bytes("message")))
        for name in Self.usual {
            let signature = try SSHFileSignature(parsing: try Vectors.bytes("\(name).sig")).signature
            for other in Self.usual + ["sk_ed25519", "sk_ecdsa"] {
                try expect(signature.isValid(for: message, by: Vectors.key(other)), is: (name == other))
            }
        }
    }

    @Test(arguments: ["sk_ed25519", "sk_ecdsa"]) func keyFilesComeBackAsTheyWere(name: String) throws {
        let bytes = try Vectors.bytes(name)
        let file = try SecurityKeyFile(parsing: bytes)
        #expect(try file.publicKey == Vectors.key(name) && file.flags == [.touchRequired] && file.comment == "ssh:")
        try expect(SecurityKeyFile(parsing: Array(file.text(check: 1).utf8)), is: file)
        for count in stride(from: 0, to: bytes.count - 2, by: 7) {
            #expect(throws: SSHError.self) { try SecurityKeyFile(parsing: Array(bytes.prefix(count))) }
        }
    }

    @Test func otherPrivateKeysAreRefused() throws {
        #expect(throws: SSHError.notInSecurityKey("ssh-ed25519")) {
            try SecurityKeyFile(parsing: try Vectors.bytes("usual"))
        }
        #expect(throws: SSHError.encrypted("aes256-ctr")) {
            try SecurityKeyFile(parsing: try Vectors.bytes("encrypted"))
        }
        let line = "-----BEGIN OPENSSH PRIVATE KEY-----"
        #expect(throws: SSHError.malformed("this is not a file of OpenSSH with a line '\(line)'")) {
            try SecurityKeyFile(parsing: Array("hello".utf8))
        }
    }

    /// A file that 'ssh-keygen -p' put the passphrase "secret" on.
    @Test func passphrasesAreThoseOfSSHKeygen() throws {
        let bytes = try Vectors.bytes("sk_ed25519_passphrase")
        let phrase = SharedSecret(Secret(utf8: "secret"))
        #expect(throws: SSHError.encrypted("aes256-ctr")) { try SecurityKeyFile(parsing: bytes) }
        #expect(!SecurityKeyFile.decrypts("aes256-gcm@openssh.com"))
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        try expect(SecurityKeyFile(parsing: bytes, passphrase: phrase), is: file)
        #expect(throws: SSHError.wrongPassphrase) {
            try SecurityKeyFile(parsing: bytes, passphrase: SharedSecret(Secret(utf8: "Secret")))
        }
        let salt = [UInt8](1...16)
        let again = Array(try file.text(check: 1, passphrase: phrase, salt: salt).utf8)
        try expect(SecurityKeyFile(parsing: again, passphrase: phrase), is: file)
    }

    /// Computed by Botan 2.19.3.
    @Test(arguments: [
        (
            Array("password".utf8), Array("salt".utf8), UInt32(4),
            "5ba4bfc60c7ac272931458407f4c1c4936ea356c55125c5a279b791d65bf9842d49d7e1b572a9052715ebfa9421e7e94"
        ),
        (
            [UInt8](0..<200), [UInt8](0..<16), 3,
            "422a22b8a7ccace7752579f1a8bbc772fabca1aae8c41e4f8ea9522032d1a2d22e135150433acfd12212bbbe337a8ad5"
        ),
    ])
    func keyDerivationAgreesWithBotan(
        _ password: [UInt8], _ salt: [UInt8], _ rounds: UInt32, _ material: String
    ) throws {
        var parameters = SSHWriter()
        parameters.string(salt)
        parameters.uint32(rounds)
        let protection = try KeyFileProtection(parameters.bytes)
        expect(Hex.encode(protection.keyMaterial(of: SharedSecret(Secret(password)))), is: material)
    }

    /// A file does not decide how long its passphrase takes.
    @Test(arguments: [
        (0, "the parameters of"), (1025, "the key derivation has 1025 rounds"), (.max, "the key derivation"),
    ])
    func roundsAreBounded(rounds: UInt32, words: String) throws {
        let text = try Vectors.text("sk_ed25519_passphrase").split(separator: "\n").dropFirst().dropLast().joined()
        var body = try Base64.decode(text)
        // Magic, cipher and derivation, the length of the parameters, 20 bytes of salt.
        let place = 15 + 14 + 10 + 4 + 20
        expect(Array(body[place..<(place + 4)]), is: [0, 0, 0, 16])
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            body[place + index] = UInt8(rounds >> UInt32(shift) & 0xFF)
        }
        let armored =
            "-----BEGIN OPENSSH PRIVATE KEY-----\n\(Base64.encode(body))\n-----END OPENSSH PRIVATE KEY-----\n"
        let error = #expect(throws: SSHError.self) {
            try SecurityKeyFile(parsing: Array(armored.utf8), passphrase: SharedSecret(Secret(utf8: "secret")))
        }
        expect(error?.description.hasPrefix(words), is: true)
    }

    @Test func everyChangedByteOfAKeyFileIsSeenOrHarmless() throws {
        let file = try SecurityKeyFile(parsing: try Vectors.bytes("sk_ed25519"))
        let text = file.text(check: 7)
        let body = try Base64.decode(text.split(separator: "\n").dropFirst().dropLast().joined())
        for place in body.indices {
            var changed = body
            changed[place] ^= 0x40
            let armored =
                "-----BEGIN OPENSSH PRIVATE KEY-----\n\(Base64.encode(changed))\n-----END OPENSSH PRIVATE KEY-----\n"
            if let read = try? SecurityKeyFile(parsing: Array(armored.utf8)) {
                expect(read.publicKey, is: file.publicKey)
            }
        }
    }

    @Test func keysThatSignNothingAreNone() throws {
        expect(SSHPublicKey(PublicKey.x25519([UInt8](repeating: 1, count: 32))), is: nil)
        let other = COSEKey(okp: .x25519, algorithm: .edDSA, x: [UInt8](repeating: 1, count: 32))
        expect(SSHPublicKey(cose: other, application: "ssh:"), is: nil)
        #expect(throws: SSHError.unsupportedKey("ssh-dss")) {
            try SSHPublicKey.parse(line: "ssh-dss " + Base64.encode([0, 0, 0, 7] + Array("ssh-dss".utf8)))
        }
        #expect(throws: SSHError.malformed("a public key is a line with a type and base64 data")) {
            try SSHPublicKey.parse(line: "ssh-rsa")
        }
        let line = try Vectors.text("ed25519.pub").replacingOccurrences(of: "ssh-ed25519 ", with: "ssh-rsa ")
        #expect(throws: SSHError.malformed("'ssh-rsa' before a key of type 'ssh-ed25519'")) {
            try SSHPublicKey.parse(line: line)
        }
    }

    @Test func signaturesOfKeysTakeTheirForms() throws {
        let key = try Vectors.key("ecdsab256")
        let made = try SSHSignature([0x30, 6, 2, 1, 0x05, 2, 1, 0x7F], by: key)
        #expect(made.format == "ecdsa-sha2-nistp256" && made.blob == [0, 0, 0, 1, 5, 0, 0, 0, 1, 0x7F])
        #expect(throws: SSHError.self) { try SSHSignature([0x30, 3, 2, 1, 5], by: key) }
        #expect(throws: SSHError.self) { try SSHSignature([1, 2, 3], by: try Vectors.key("ed25519")) }
        #expect(throws: SSHError.self) { try SSHSignature([1], by: try Vectors.key("rsab2048"), hash: .sha1) }
        try expect(SSHSignature([1], by: try Vectors.key("rsab2048"), hash: .sha256).format, is: "rsa-sha2-256")
        let evidence = SSHSignature.Evidence(flags: 1, counter: 258)
        #expect(throws: SSHError.self) {
            try SSHSignature([UInt8](repeating: 1, count: 64), by: try Vectors.key("ed25519"), evidence: evidence)
        }
        let signature = try SSHSignature(
            [UInt8](repeating: 1, count: 64), by: try Vectors.key("sk_ed25519"), evidence: evidence)
        expect(signature.wire.suffix(5), is: [1, 0, 0, 1, 2])
        #expect(!signature.isValid(for: [1], by: try Vectors.key("sk_ed25519")))
    }

    @Test func attestationsHaveOpenSSHsForm() throws {
        let credential = AuthenticatorData.AttestedCredential(
            aaguid: [UInt8](repeating: 0, count: 16), id: [7],
            publicKey: COSEKey(okp: .ed25519, algorithm: .edDSA, x: [UInt8](repeating: 1, count: 32)))
        let data = AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash("ssh:".utf8), flags: .userPresent, counter: 1, credential: credential)
        let attestation = SSHAttestation(certificate: [1], signature: [2, 3], authenticatorData: data)
        let bytes = attestation.encoded
        let head = "000000117373682d736b2d6174746573742d763031" + "0000000101" + "000000020203"
        #expect(Hex.encode(bytes).hasPrefix(head) && Hex.encode(bytes).hasSuffix("00000000" + "00000000"))
        #expect(SSHAttestation.isRecognized(in: bytes) && !SSHAttestation.isRecognized(in: [0, 0, 0, 1, 1]))
        try expect(SSHAttestation(decoding: bytes), is: attestation)
        for count in 0..<bytes.count {
            #expect(throws: SSHError.self) { try SSHAttestation(decoding: Array(bytes[..<count])) }
        }
        #expect(throws: SSHError.self) { try SSHAttestation(decoding: bytes + [0]) }
        var older = bytes
        older[20] = UInt8(ascii: "0")
        #expect(throws: SSHError.unsupportedKey("ssh-sk-attest-v00")) { try SSHAttestation(decoding: older) }
    }
}
