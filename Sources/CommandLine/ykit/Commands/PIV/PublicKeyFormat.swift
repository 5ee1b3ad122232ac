// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKAge
import YKCrypto
import YKSSH
import YKWire

/// The format of a public key.
enum PublicKeyFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, ssh, age

    var isText: Bool { self != .der }

    /// Encodes the key in this format. SSH does not support X25519; age supports only X25519 and P-256.
    func encode(_ key: PublicKey, comment: String) throws(Explanation) -> [UInt8] {
        switch self {
        case .pem: return Array(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo).utf8)
        case .der: return key.subjectPublicKeyInfo
        case .ssh:
            guard let text = SSHPublicKey(key)?.line(comment: comment) else {
                throw .usage("SSH has no form for an X25519 key", hint: "--format age, or --format pem")
            }
            return Array((text + "\n").utf8)
        case .age:
            guard let recipient = AgePublicKey(key)?.recipient else {
                throw .usage("an age recipient is an X25519 or P-256 key", hint: "--format ssh is for the others")
            }
            return Array((recipient.text() + "\n").utf8)
        }
    }

    /// Returns the encoding as a member of an answer.
    func json(_ bytes: [UInt8]) -> JSON {
        switch self {
        case .pem: .string(String(decoding: bytes, as: UTF8.self))
        case .der: .string(Base64.encodeURL(bytes))
        case .ssh, .age: .string(String(decoding: bytes, as: UTF8.self).trimmed)
        }
    }
}
