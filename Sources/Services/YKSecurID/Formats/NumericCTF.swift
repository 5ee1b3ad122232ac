// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// A token as a string of 81 to 85 decimal digits, versions 1 and 2.
public struct NumericCTF: Hashable, Sendable {
    /// The version, 1 or 2.
    public let version: Int
    /// The serial number, 12 digits.
    public let serial: String
    /// Whether a password is needed.
    public let isProtected: Bool
    /// Whether a device identifier is needed.
    public let isBound: Bool
    private let bits: BitField
    private let flags: Int
    private let isSmartphoneURL: Bool

    /// Reads digits. Skips dashes, and white space if the string would be too short without the digits after it; any
    /// other character ends the string.
    ///
    /// - Parameters:
    ///   - text: The digits, beginning with the version.
    ///   - isSmartphoneURL: Whether they came from one of the URLs of RSA's smartphone apps.
    /// - Throws: `format` for a wrong length or version, or `checksum`.
    public init(_ text: some StringProtocol, isSmartphoneURL: Bool = false) throws(SecurIDError) {
        var digits = text.utf8.prefix { $0.isDecimalDigit || $0 == 0x2D }.filter { $0 != 0x2D }
        if digits.count < 81 {
            digits = text.utf8.prefix { $0.isDecimalDigit || $0.isTokenFiller }.filter(\.isDecimalDigit)
        }
        guard let first = digits.first, first == 0x31 || first == 0x32 else { throw .format("unknown version") }
        guard (81...85).contains(digits.count) else {
            throw .format("\(digits.count) digits, expected 81 to 85")
        }
        let sum = BitField(digits.suffix(5))
        guard let sum, sum.number(0, 15) == AESHash.short(Array(digits.dropLast(5))) else { throw .checksum }
        guard let bits = BitField(digits[13..<76]) else { throw .format("a digit above 7") }
        version = Int(first - 0x30)
        serial = String(decoding: digits[1..<13], as: UTF8.self)
        self.bits = bits
        flags = bits.number(128, 16)
        isProtected = flags & 0x2000 != 0
        isBound = flags & 0x1000 != 0
        self.isSmartphoneURL = isSmartphoneURL
    }

    /// Decrypts the seed.
    ///
    /// - Throws: `deviceNeeded`, `wrongDevice`, `passwordNeeded`, `wrongPassword`, or `field`.
    public func token(_ keys: SecurIDKeys = SecurIDKeys()) throws(SecurIDError) -> SecurIDToken {
        let keys = try keys.checked()
        var device: (id: String, field: [UInt8])?
        if isBound {
            device = keys.candidates.lazy.compactMap { id in self.field(of: id).map { (id, $0) } }.first
            guard device != nil else { throw keys.deviceFailure }
        }
        if isProtected, keys.password == nil { throw .passwordNeeded }
        var material = isProtected ? keys.password?.value.copyBytes() ?? [] : []
        defer { Secret.wipe(&material) }
        material += device?.field ?? []
        material += [0xD8, 0xF5, 0x32, 0x53, 0x82, 0x89]
        var seed: [UInt8]
        do {
            let key = Secret(AESHash.hash(material))
            seed = try BlockCipher.aes.decrypt(bits.bytes(0, 16), key: key)
        } catch { throw .crypto(error) }
        defer { Secret.wipe(&seed) }
        guard AESHash.short(seed) == bits.number(159, 15) else { throw isProtected ? .wrongPassword : .checksum }
        return try SecurIDToken(
            serial: serial, seed: SharedSecret(Secret(seed)), digits: (flags >> 6 & 7) + 1,
            interval: flags & 3 == 0 ? .seconds(30) : .seconds(60), type: flags >> 4 & 1 == 1 ? .pinpad : .keyfob,
            expiry: UTCDate(day: bits.number(144, 14) + 10_957), deviceID: device?.id)
    }

    /// Returns the part of a device identifier that the string uses; `nil` if it is bound to another device.
    ///
    /// The URLs of RSA's smartphone apps use 40 characters, other strings 32. Both are tried, since a URL may have lost
    /// its scheme. Version 1 is known only from stoken, which uses the characters that are not digits.
    private func field(of id: String) -> [UInt8]? {
        let widths = isSmartphoneURL ? [40, 32] : [32, 40]
        for width in widths {
            var fields = [DeviceBinding.hexadecimal(id, width: width)]
            if version == 1 { fields.append(DeviceBinding.nonDecimal(id, width: width)) }
            for field in fields where AESHash.short(field.fitted(width)) == bits.number(174, 15) { return field }
        }
        return nil
    }
}

extension UInt8 {
    /// Whether a character may occur between the digits of a string that a person or an email program has broken up.
    fileprivate var isTokenFiller: Bool { self == 0x2D || self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}

/// Bits written as octal digits, three bits per digit, most significant bit first.
struct BitField: Hashable, Sendable {
    private let digits: [UInt8]

    /// Reads ASCII digits; `nil` for a digit above 7.
    init?(_ text: ArraySlice<UInt8>) {
        guard text.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        digits = text.map { $0 & 7 }
    }

    /// Returns the number in `count` bits starting at bit `start`.
    func number(_ start: Int, _ count: Int) -> Int {
        (start..<start + count).reduce(0) { $0 << 1 | Int(digits[$1 / 3] >> UInt8(2 - $1 % 3) & 1) }
    }

    /// Returns the bytes starting at bit `start`.
    func bytes(_ start: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number(start + 8 * $0, 8)) }
    }
}

/// The hash that numeric CTF strings use: a chain of AES-128 whose keys are the blocks of the message.
enum AESHash {
    /// Returns the hash, 16 bytes.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var blocks = stride(from: 0, to: max(1, message.count), by: 16).map { start in
            Array(message[start..<min(start + 16, message.count)]).fitted(16)
        }
        if blocks.count.isMultiple(of: 2) { blocks.append([UInt8](repeating: 0, count: 16)) }
        let bits = message.count * 8
        blocks.append(
            [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
        var state = [UInt8](repeating: 0xFF, count: 16)
        for block in blocks { state = step(state, block) }
        return step(state, state)
    }

    /// Returns the first 15 bits of the hash.
    static func short(_ message: [UInt8]) -> Int {
        let hash = hash(message)
        return Int(hash[0]) << 7 | Int(hash[1]) >> 1
    }

    /// Encrypts one block; a key and a block of 16 bytes are always valid.
    private static func step(_ state: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let output = (try? BlockCipher.aes.encrypt(state, key: Secret(key))) ?? state
        return zip(state, output).map { $0 ^ $1 }
    }
}
