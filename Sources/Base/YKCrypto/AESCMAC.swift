// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// AES-CMAC (NIST SP 800-38B), and the key derivation in counter mode built on it (NIST SP 800-108r1 §4.1).
public enum AESCMAC {
    /// The size of the code in bytes.
    public static let size = 16

    /// Returns the code of a message under a key of 16, 24 or 32 bytes.
    ///
    /// - Throws: `CryptoFault` for a key of any other length.
    public static func code(_ message: [UInt8], key: borrowing Secret) throws(CryptoFault) -> [UInt8] {
        try OpenSSL.output(size, "AES-CMAC: a key of \(key.count) bytes") { out, room in
            key.withBytes {
                ykit_mac("CMAC", "AES-\($0.count * 8)-CBC", $0.octets, $0.count, message, message.count, out, room)
            }
        }
    }

    /// Derives a key as secure channels do (GlobalPlatform Amendment D §4.1.5): the authenticated block is the label,
    /// 00, the length in bits (two bytes), a counter of one byte, and the context.
    ///
    /// - Parameters:
    ///   - label: Eleven bytes 00 and a constant that identifies the key's purpose.
    ///   - length: The length of the result in bytes, 1 to 32.
    /// - Throws: `CryptoFault` when the key or the result has any other length.
    public static func derive(
        _ key: borrowing Secret, label: [UInt8], context: [UInt8], length: Int
    ) throws(CryptoFault) -> Secret {
        guard (1...32).contains(length) else { throw CryptoFault("AES-CMAC: a key of \(length) bytes") }
        let bits = UInt16(truncatingIfNeeded: length * 8)
        let head = label + [0, UInt8(bits >> 8), UInt8(truncatingIfNeeded: bits)]
        var output: [UInt8] = []
        defer { Secret.wipe(&output) }
        for counter in UInt8(1)...2 where output.count < length {
            output += try code(head + [counter] + context, key: key)
        }
        return Secret(output.prefix(length))
    }
}
