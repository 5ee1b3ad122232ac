// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension OATHApplet {
    /// VALIDATE: host and key prove to each other that they have the access key; 6A80 if the host does not.
    mutating func validate(_ command: APDU, _ memory: OATHMemory) throws(Refusal) -> [UInt8] {
        guard let accessKey = memory.accessKey else { throw .status(.dataInvalid) }
        let (response, theirs) = try Self.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.fullResponse), try reader.value(Tag.challenge))
        }
        let expected = Self.hmac(accessKey, challenge)
        guard !challenge.isEmpty, theirs.count >= 8, constantTimeEqual(response, expected) else {
            throw .status(.incorrectParameters)
        }
        isUnlocked = true
        return TLV(Tag.fullResponse, Self.hmac(accessKey, theirs)).encoded
    }

    /// SET CODE: sets an access key that the host proves to have; an empty key removes it.
    ///
    /// Applets before 3.0.0 (YubiKey NEO) are locked by it until they are selected and unlocked again. On a YubiKey 5
    /// FIPS with firmware 5.7, the access key cannot be removed.
    mutating func setCode(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let fields = try Self.parse(command.data) { reader throws(WireError) in
            let code = try reader.value(Tag.key)
            return code.isEmpty && reader.isAtEnd
                ? nil : (code, try reader.value(Tag.challenge), try reader.value(Tag.fullResponse))
        }
        guard let (code, theirs, response) = fields else {
            guard !key.profile.isFIPS57 else { throw .status(.conditionsNotSatisfied) }
            key.oath.accessKey = nil
            return
        }
        let accessKey = Array(code.dropFirst())
        let type = VirtualAccount.Kind.totp.rawValue | VirtualAccount.Hash.sha1.rawValue
        guard code.first == type, !accessKey.isEmpty, accessKey.count <= 64, !theirs.isEmpty else {
            throw .status(.incorrectParameters)
        }
        let expected = Self.hmac(accessKey, theirs)
        guard response.count == expected.count else { throw .status(.incorrectParameters) }
        guard constantTimeEqual(response, expected) else { throw .status(.dataInvalid) }
        key.oath.accessKey = accessKey
        if key.profile.oathVersion < FirmwareVersion(3, 0, 0) { isUnlocked = false }
    }

    /// RESET: deletes all accounts and the access key, locked or not, and draws a new salt.
    mutating func reset(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard (command.p1, command.p2) == OATHProtocol.resetParameters else { throw .status(.wrongParameters) }
        key.oath = OATHMemory(salt: try inputs.draw(8))
        isUnlocked = true
        return []
    }

    private static func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        HashAlgorithm.sha1.hmac(key: Secret(key), message)
    }
}
