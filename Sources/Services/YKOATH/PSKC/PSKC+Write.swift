// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
import YKWire

extension PSKC {
    /// Writes accounts as a key container with encrypted secrets: AES-CBC, with a message authentication code
    /// (HMAC-SHA-1, RFC 6030 §6.1.1) under a separate key.
    ///
    /// A passphrase is turned into the key by 600 000 rounds of PBKDF2 with HMAC-SHA-256; a pre-shared key has 16, 24
    /// or 32 bytes. `serial` is the serial number of the key that holds the accounts.
    public static func write(
        _ accounts: [NewOATHAccount], serial: String? = nil, locking: PSKCUnlocking, random: any RandomSource
    ) throws(PSKCError) -> [UInt8] {
        let writer = try PSKCWriter(locking: locking, random: random)
        var body = ""
        for (place, account) in accounts.enumerated() {
            body += try writer.package(account, id: "\(serial ?? "key")-\(place + 1)", serial: serial)
        }
        return Array(writer.container(body).utf8)
    }
}
