// SPDX-License-Identifier: Apache-2.0

import CBotan
import YKCrypto

/// The passphrase of a key file (OpenSSH's PROTOCOL.key): bcrypt_pbkdf derives key and counter of AES-256-CTR.
struct KeyFileProtection {
    static let cipher = "aes256-ctr"
    static let derivation = "bcrypt"
    /// The cipher's block size, to which the private section is padded.
    static let blockSize = 16
    private static let keySize = 32
    /// Maximum number of rounds that a file may specify: about 20 seconds.
    private static let roundLimit: UInt32 = 1024

    private let salt: [UInt8]
    private let rounds: UInt32

    /// Creates a protection with the number of rounds that ssh-keygen uses (OpenSSH 9.4).
    ///
    /// - Parameter salt: 16 random bytes.
    init(salt: [UInt8]) {
        self.salt = salt
        rounds = 24
    }

    /// Reads the parameters of the key derivation.
    init(_ parameters: [UInt8]) throws(SSHError) {
        var reader = SSHReader(parameters)
        salt = try reader.string("the salt")
        rounds = try reader.uint32("the rounds")
        try reader.finish("the parameters of the key derivation")
        guard !salt.isEmpty, rounds > 0 else { throw .malformed("the parameters of the key derivation") }
        guard rounds <= Self.roundLimit else {
            throw .malformed("the key derivation has \(rounds) rounds, the maximum is \(Self.roundLimit)")
        }
    }

    /// The parameters of the key derivation.
    var parameters: [UInt8] {
        var writer = SSHWriter()
        writer.string(salt)
        writer.uint32(rounds)
        return writer.bytes
    }

    /// Encrypts or decrypts a private section, which is the same operation.
    func applied(to section: [UInt8], _ passphrase: SharedSecret) throws(SSHError) -> [UInt8] {
        guard ykit_botan() == 1 else { throw .encrypted(Self.cipher) }
        var material = [UInt8](repeating: 0, count: Self.keySize + Self.blockSize)
        defer { Secret.wipe(&material) }
        let status = passphrase.value.withBytes { passphrase in
            ykit_bcrypt_pbkdf(
                rounds, passphrase.baseAddress, passphrase.count, salt, salt.count, &material, material.count)
        }
        guard status == 0 else { throw .malformed("the parameters of the key derivation") }
        let key = Secret(material.prefix(Self.keySize))
        var counter = Array(material.suffix(Self.blockSize))
        var result = section
        for start in stride(from: 0, to: result.count, by: Self.blockSize) {
            guard let stream = try? BlockCipher.aes.encrypt(counter, key: key) else {
                throw .malformed("the private section")
            }
            for place in start..<min(start + Self.blockSize, result.count) { result[place] ^= stream[place - start] }
            Self.increment(&counter)
        }
        return result
    }

    private static func increment(_ counter: inout [UInt8]) {
        for place in counter.indices.reversed() {
            counter[place] &+= 1
            if counter[place] != 0 { return }
        }
    }
}
