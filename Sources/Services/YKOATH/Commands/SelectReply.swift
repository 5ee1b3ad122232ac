// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

extension OATHInfo {
    /// Reads the reply to SELECT (YKOATH, "SELECT"): 79 version, 71 salt, 74 challenge if a password is set.
    package init(selectReply bytes: [UInt8], isYubiKey: Bool = false) throws(WireError) {
        let objects = try TLV.list(bytes)
        salt = try objects.required(OATHProtocol.Tag.name, "salt")
        version = try objects.value(OATHProtocol.Tag.version).map { value throws(WireError) in
            try FirmwareVersion(bytes: value)
        }
        challenge = objects.value(OATHProtocol.Tag.challenge)
        hasPassword = challenge != nil
        isLocked = challenge != nil
        self.isYubiKey = isYubiKey
        let named = [OATHProtocol.Tag.name, OATHProtocol.Tag.version, OATHProtocol.Tag.challenge]
        others = objects.filter { !named.contains($0.tag) }
    }
}
