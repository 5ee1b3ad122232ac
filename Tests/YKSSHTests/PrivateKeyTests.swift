// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKSSH
import YKTestSupport
import YKWire

/// Ordinary private keys in OpenSSH's format, as ssh-keygen writes them, to be imported into a security key.
struct PrivateKeyTests {
    private func generated(_ arguments: [String], passphrase: String = "") throws -> (file: [UInt8], line: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let path = folder.appendingPathComponent("k").path
        process.arguments = ["ssh-keygen", "-q", "-C", "a b", "-N", passphrase, "-f", path] + arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return (
            Array(try Data(contentsOf: URL(fileURLWithPath: path))),
            try String(contentsOf: URL(fileURLWithPath: path + ".pub"), encoding: .utf8)
        )
    }

    private static let types = [
        ["-t", "ed25519"], ["-t", "ecdsa", "-b", "256"], ["-t", "ecdsa", "-b", "384"], ["-t", "ecdsa", "-b", "521"],
        ["-t", "rsa", "-b", "2048"],
    ]

    @Test(arguments: types) func keysAreThoseOfSSHKeygen(_ type: [String]) throws {
        let (file, line) = try generated(type)
        let key = try SSHPrivateKey(parsing: file)
        let known = try SSHPublicKey.parse(line: line.trimmingCharacters(in: .whitespacesAndNewlines))
        expect(key.key.publicKey, is: known.key.key)
        expect(key.comment, is: "a b")
        let signature = try key.key.sign([1, 2, 3], .sha512)
        #expect(known.key.key.isValid(signature, for: [1, 2, 3], .sha512))
        let text = String(decoding: file, as: UTF8.self)
        try expect(SSHPrivateKey(parsing: Array(text.replacing("\n", with: "\r\n").utf8)).key, is: key.key)
        let units = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        try expect(SSHPrivateKey(parsing: [0xFF, 0xFE] + units).key, is: key.key)
    }

    @Test(arguments: types) func passphrasesAreThoseOfSSHKeygen(_ type: [String]) throws {
        let (file, line) = try generated(type + ["-a", "2"], passphrase: "secret")
        #expect(throws: SSHError.encrypted("aes256-ctr")) { try SSHPrivateKey(parsing: file) }
        guard SecurityKeyFile.decrypts("aes256-ctr") else { return }
        let key = try SSHPrivateKey(parsing: file, passphrase: SharedSecret(Secret(utf8: "secret")))
        #expect(line.contains(Base64.encode(try #require(SSHPublicKey(key.key.publicKey)).blob)))
        #expect(throws: SSHError.wrongPassphrase) {
            try SSHPrivateKey(parsing: file, passphrase: SharedSecret(Secret(utf8: "Secret")))
        }
    }

    @Test func otherCiphersAreNamed() throws {
        let (file, _) = try generated(["-t", "ed25519", "-Z", "aes256-gcm@openssh.com"], passphrase: "secret")
        #expect(throws: SSHError.encrypted("aes256-gcm@openssh.com")) {
            try SSHPrivateKey(parsing: file, passphrase: SharedSecret(Secret(utf8: "secret")))
        }
    }

    @Test func credentialsOfSecurityKeysAreNoPrivateKeys() throws {
        #expect(throws: SSHError.unsupportedKey("sk-ssh-ed25519@openssh.com")) {
            try SSHPrivateKey(parsing: try Vectors.bytes("sk_ed25519"))
        }
    }

    /// Every byte of the file with one bit changed: an error, or the same key.
    @Test(arguments: types) func changedFilesAreErrors(_ type: [String]) throws {
        let (file, _) = try generated(type)
        let key = try SSHPrivateKey(parsing: file).key
        let text = String(decoding: file, as: UTF8.self).split(separator: "\n").dropFirst().dropLast().joined()
        let body = try Base64.decode(text)
        for place in stride(from: 0, to: body.count, by: 7) {
            var bent = body
            bent[place] ^= 0x01
            let armored = Array(PEM.encode("OPENSSH PRIVATE KEY", bent).utf8)
            if let other = try? SSHPrivateKey(parsing: armored) { expect(other.key, is: key, "byte \(place)") }
        }
    }
}
