// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// A public key as a line of authorized_keys (RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4).
enum SSHPublicKey {
    /// The line; `nil` for kinds of keys that SSH does not use.
    static func text(_ key: PublicKey, comment: String) -> String? {
        guard let (name, fields) = parts(key) else { return nil }
        let bytes = ([Array(name.utf8)] + fields).flatMap(field)
        return "\(name) \(Base64.encode(bytes)) \(comment)"
    }

    private static func parts(_ key: PublicKey) -> (String, [[UInt8]])? {
        switch key {
        case .rsa(let modulus, let exponent): return ("ssh-rsa", [number(exponent), number(modulus)])
        case .ec(let curve, let point):
            let name = curve == .p256 ? "nistp256" : curve == .p384 ? "nistp384" : "nistp521"
            return ("ecdsa-sha2-" + name, [Array(name.utf8), point])
        case .ed25519(let bytes): return ("ssh-ed25519", [bytes])
        case .x25519: return nil
        }
    }

    /// A positive number never looks like a negative one (RFC 4251 §5).
    private static func number(_ digits: [UInt8]) -> [UInt8] {
        digits.first.map { $0 & 0x80 != 0 } ?? false ? [0] + digits : digits
    }

    private static func field(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.bigEndian(UInt64(bytes.count), 4)
        return writer.bytes + bytes
    }
}
