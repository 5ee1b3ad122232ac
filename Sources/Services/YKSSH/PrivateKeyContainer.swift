// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// The outer form of OpenSSH's private key files (PROTOCOL.key): one key, its private section decrypted.
struct PrivateKeyContainer {
    static let magic = Array("openssh-key-v1\0".utf8)
    static let label = "OPENSSH PRIVATE KEY"
    static let isOfAnotherKey = SSHError.malformed("the private section does not belong to the public key")

    /// The public key in wire format.
    let publicBlob: [UInt8]
    /// Reads the private section after its check numbers.
    let reader: SSHReader

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The content of the file.
    ///   - passphrase: Its passphrase; ignored if it has none.
    /// - Throws: ``SSHError/encrypted(_:)`` without a passphrase, and for ciphers that are not supported;
    ///   ``SSHError/wrongPassphrase``; and ``SSHError/malformed(_:)``.
    init(parsing text: [UInt8], passphrase: SharedSecret?) throws(SSHError) {
        var bytes = try SSHArmor.decode(Self.label, text)
        defer { Secret.wipe(&bytes) }
        guard bytes.starts(with: Self.magic) else { throw .malformed("this is not a private key file of OpenSSH") }
        var reader = SSHReader(Array(bytes.dropFirst(Self.magic.count)))
        let cipher = try reader.text("the cipher")
        let derivation = try reader.text("the key derivation")
        let parameters = try reader.string("its parameters")
        let isProtected = cipher == KeyFileProtection.cipher && derivation == KeyFileProtection.derivation
        guard isProtected || cipher == "none" else { throw .encrypted(cipher) }
        let count = try reader.uint32("the number of keys")
        guard count == 1 else { throw .malformed("\(count) keys in one file") }
        publicBlob = try reader.string("the public key")
        var section = try reader.string("the private section")
        defer { Secret.wipe(&section) }
        try reader.finish("the keys")
        if isProtected {
            let protection = try KeyFileProtection(parameters)
            guard let passphrase else { throw .encrypted(cipher) }
            section = try protection.applied(to: section, passphrase)
            guard section.count >= 8, section[..<4] == section[4..<8] else { throw .wrongPassphrase }
        }
        var inner = SSHReader(section)
        guard try inner.uint32("the check") == inner.uint32("its copy") else {
            throw .malformed("its two check values differ")
        }
        self.reader = inner
    }

    /// Reads what follows the private fields: the comment and the padding, which some programs make longer than a block.
    ///
    /// - Returns: The comment.
    func finish(_ reader: inout SSHReader) throws(SSHError) -> String {
        let comment = try reader.comment()
        let padding = reader.rest()
        guard padding.count < 256, padding.enumerated().allSatisfy({ $0.offset + 1 == Int($0.element) }) else {
            throw .malformed("the padding is not 1, 2, 3 …")
        }
        return comment
    }
}
