// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKTransport
package import YKWire

/// Encrypts and authenticates commands and replies with the keys of a session (GlobalPlatform Amendment D §6.2.4–6.2.7):
/// C-MAC, C-DECRYPTION, R-MAC and R-ENCRYPTION.
package struct SecureMessaging {
    private let keys: SessionKeys
    /// The full MAC of the last command, to which the next MAC is chained.
    package private(set) var chain: [UInt8]
    /// The number of the next command, from 1.
    package private(set) var counter: UInt32

    /// The length of a MAC on the wire, in bytes.
    package static let macSize = 8
    /// The maximum number of commands in a session; far below the overflow of the counter.
    static let commandLimit: UInt32 = 1 << 24

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - chain: 16 bytes: after EXTERNAL AUTHENTICATE its whole MAC, in SCP11 the receipt.
    ///   - number: The number of the last command, 0 for a new session.
    package init(_ keys: SessionKeys, chain: [UInt8], answering number: UInt32 = 0) {
        self.keys = keys
        self.chain = chain
        counter = number + 1
    }

    /// The key that encrypts keys sent to the card.
    package var dataEncryption: SharedSecret? { keys.dataEncryption }

    /// Appends the MAC to a command whose data is not encrypted, such as EXTERNAL AUTHENTICATE.
    package mutating func authenticate(_ command: APDU, _ form: APDU.Form) throws(CardError) -> APDU {
        var result = command
        result.cla |= 0x04
        let length = command.data.count + Self.macSize
        var header = [result.cla, result.ins, result.p1, result.p2]
        if form == .extended || length > APDU.shortDataLimit {
            header += [0, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        } else {
            header.append(UInt8(length))
        }
        guard length <= 0xFFFF else { throw .tooLong(during: command.label) }
        chain = try Self.lifted { () throws(CryptoFault) in
            try AESCMAC.code(chain + header + command.data, key: keys.mac.value)
        }
        result.data += chain.prefix(Self.macSize)
        return result
    }

    /// Encrypts the data of a command, even when empty, and appends the MAC.
    package mutating func protect(_ command: APDU, _ form: APDU.Form) throws(CardError) -> APDU {
        guard counter < Self.commandLimit else { throw .secureChannel(.ended) }
        var plain = command.data + [0x80]
        defer { Secret.wipe(&plain) }
        plain += [UInt8](repeating: 0, count: (16 - plain.count % 16) % 16)
        var encrypted = command
        encrypted.data = try Self.lifted { () throws(CryptoFault) in
            try AESCBC.encrypt(plain, key: keys.encryption.value, initialisationVector: try vector(isReply: false))
        }
        counter += 1
        return try authenticate(encrypted, form)
    }

    /// Verifies the MAC of the reply to the last command and decrypts its data.
    ///
    /// A reply whose status word is an error has neither MAC nor data. A warning (62xx, 63xx) has both or none.
    ///
    /// - Throws: `secureChannel(.notAuthentic)`, the same for a wrong MAC and for wrong padding.
    ///
    /// - Parameter isVerified: Whether a wrong MAC is an error; without the MACs of all commands before, it cannot be
    ///   verified.
    package func unprotect(_ response: ResponseAPDU, isVerified: Bool = true) throws(CardError) -> ResponseAPDU {
        let isWarning = response.status.sw1 == 0x62 || response.status.sw1 == 0x63
        guard response.status == .ok || isWarning && !response.data.isEmpty else {
            return ResponseAPDU(response.status)
        }
        guard response.data.count >= Self.macSize else { throw .secureChannel(.notAuthentic) }
        let body = Array(response.data.dropLast(Self.macSize))
        let expected = try Self.lifted { () throws(CryptoFault) in
            try AESCMAC.code(
                chain + body + [response.status.sw1, response.status.sw2], key: keys.responseMAC.value)
        }
        let isAuthentic = constantTimeEqual(
            Array(expected.prefix(Self.macSize)), Array(response.data.suffix(Self.macSize)))
        guard isAuthentic || !isVerified else {
            throw .secureChannel(.notAuthentic)
        }
        return ResponseAPDU(response.status, data: try decrypt(body, isReply: true))
    }

    /// Verifies and decrypts a command, as the card does.
    ///
    /// - Parameter isVerified: Whether a wrong MAC is an error; without the MACs of all commands before, it cannot be
    ///   verified.
    package mutating func open(_ command: APDU, _ form: APDU.Form, isVerified: Bool = true) throws(CardError) -> APDU {
        guard command.data.count >= Self.macSize else { throw .secureChannel(.notAuthentic) }
        var plain = command
        plain.data = Array(command.data.dropLast(Self.macSize))
        let sent = Array(command.data.suffix(Self.macSize))
        let authentic = try authenticate(plain, form)
        if isVerified, !constantTimeEqual(Array(authentic.data.suffix(Self.macSize)), sent) {
            throw .secureChannel(.notAuthentic)
        }
        plain.data = try decrypt(plain.data, isReply: false)
        plain.cla &= ~0x04
        counter += 1
        return plain
    }

    /// Skips an unknown command; MACs cannot be verified afterwards.
    package mutating func skip() { counter += 1 }

    private func decrypt(_ body: [UInt8], isReply: Bool) throws(CardError) -> [UInt8] {
        guard !body.isEmpty else { return [] }
        guard body.count.isMultiple(of: 16) else { throw .secureChannel(.notAuthentic) }
        var plain = try Self.lifted { () throws(CryptoFault) in
            try AESCBC.decrypt(body, key: keys.encryption.value, initialisationVector: try vector(isReply: isReply))
        }
        while plain.last == 0 { plain.removeLast() }
        guard plain.popLast() == 0x80 else { throw .secureChannel(.notAuthentic) }
        return plain
    }

    /// The encrypted counter of the next command, or with the top bit set that of the answered one.
    private func vector(isReply: Bool) throws(CryptoFault) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: 16)
        let number = isReply ? counter - 1 : counter
        for index in 0..<4 { block[12 + index] = UInt8(truncatingIfNeeded: number >> UInt32(24 - 8 * index)) }
        if isReply { block[0] = 0x80 }
        return try BlockCipher.aes.encrypt(block, key: keys.encryption.value)
    }

    private static func lifted<Value>(_ body: () throws(CryptoFault) -> Value) throws(CardError) -> Value {
        do { return try body() } catch { throw .secureChannel(.badHostKey(error.description)) }
    }
}
