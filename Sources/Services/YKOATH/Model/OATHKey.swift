// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// A secret as PUT sends it: hashed if longer than the hash's block, padded with zeros to 14 bytes if shorter
/// (YKOATH, "PUT"; the codes stay the same, RFC 2104 §2).
struct OATHKey: ~Copyable, Sendable {
    let bytes: Secret

    init(_ secret: borrowing Secret, algorithm: HashAlgorithm) {
        var bytes = secret.copyBytes()
        defer { Secret.wipe(&bytes) }
        if bytes.count > algorithm.blockSize {
            var digest = algorithm.hash(bytes)
            defer { Secret.wipe(&digest) }
            self.bytes = Secret(digest)
        } else {
            self.bytes = Secret(bytes + [UInt8](repeating: 0, count: max(0, 14 - bytes.count)))
        }
    }
}
