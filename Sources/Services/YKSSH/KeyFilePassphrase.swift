// SPDX-License-Identifier: Apache-2.0

import CBcrypt
import YKCrypto

/// The passphrase of a key file (OpenSSH's PROTOCOL.key): bcrypt_pbkdf derives key and counter of AES-256-CTR.
struct KeyFileProtection {
    static let cipher = "aes256-ctr"
    static let derivation = "bcrypt"
    /// The cipher's block size, to which the private section is padded.
    static let blockSize = 16
    private static let keySize = 32
    private static let hashSize = Int(YKIT_BCRYPT_OUTPUT)
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
        var material = keyMaterial(of: passphrase)
        defer { Secret.wipe(&material) }
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

    /// Key and counter: OpenSSH's bcrypt_pbkdf, which is PBKDF2 with the hash of bcrypt and with interleaved blocks.
    func keyMaterial(of passphrase: SharedSecret) -> [UInt8] {
        var password = passphrase.value.withBytes { HashAlgorithm.sha512.hash($0) }
        var result = [UInt8](repeating: 0, count: Self.keySize + Self.blockSize)
        let blocks = (result.count + Self.hashSize - 1) / Self.hashSize
        var (sum, hash) = ([UInt8](repeating: 0, count: Self.hashSize), [UInt8](repeating: 0, count: Self.hashSize))
        defer {
            Secret.wipe(&password)
            Secret.wipe(&sum)
            Secret.wipe(&hash)
        }
        for block in 0..<blocks {
            var message = salt + [0, 0, 0, UInt8(block + 1)]
            for index in sum.indices { sum[index] = 0 }
            for _ in 0..<rounds {
                ykit_bcrypt_hash(password, HashAlgorithm.sha512.hash(message), &hash)
                for index in sum.indices { sum[index] ^= hash[index] }
                Secret.wipe(&message)
                message = hash
            }
            Secret.wipe(&message)
            for place in stride(from: block, to: result.count, by: blocks) { result[place] = sum[place / blocks] }
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
