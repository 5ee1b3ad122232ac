// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

extension OATHInfo {
    /// Reads the reply to SELECT (YKOATH, "SELECT"): 79 version, 71 salt, 74 challenge when a password was set.
    package init(selectReply bytes: [UInt8], isYubiKey: Bool = false) throws(WireError) {
        let objects = try TLV.list(bytes)
        salt = try objects.required(OATHTag.name, "salt")
        version = try objects.value(OATHTag.version).map { value throws(WireError) in try Version(bytes: value) }
        challenge = objects.value(OATHTag.challenge)
        hasPassword = challenge != nil
        isLocked = challenge != nil
        self.isYubiKey = isYubiKey
        let named = [OATHTag.name, OATHTag.version, OATHTag.challenge]
        others = objects.filter { !named.contains($0.tag) }
        deviceID = Base64.encode(Array(HashAlgorithm.sha256.hash(salt).prefix(16)), padded: false)
    }
}
