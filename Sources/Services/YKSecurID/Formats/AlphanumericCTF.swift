// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// A token as 291 bytes in base64, versions 3 and 4.
public struct AlphanumericCTF: Hashable, Sendable {
    /// The version, 3 or 4.
    public let version: Int
    /// Whether a password is needed.
    public let isProtected: Bool
    /// Whether a device identifier is needed.
    public let isBound: Bool
    private let bytes: [UInt8]
    private static let size = 291

    /// Reads base64, percent-encoded or not, on one or more lines; any other character ends it.
    ///
    /// - Throws: `format` for anything but 291 bytes of version 3 or 4.
    public init(_ text: String) throws(SecurIDError) {
        let characters = Self.characters(text)
        guard let bytes = try? Base64.decode(String(decoding: characters, as: UTF8.self)), bytes.count == Self.size
        else { throw .format("\(characters.count) characters of base64, expected \(Self.length)") }
        guard bytes[0] == 3 || bytes[0] == 4 else { throw .format("unknown version") }
        version = Int(bytes[0])
        isProtected = bytes[1] != 0
        isBound = bytes[2] != 0
        self.bytes = bytes
    }

    /// The number of base64 characters for 291 bytes, which need no padding.
    private static let length = 388

    /// Returns the base64 characters at the start of a text: as many as a string has, or more if they continue on the
    /// same line.
    private static func characters(_ text: String) -> [UInt8] {
        var characters: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while var byte = rest.popFirst() {
            if byte == 0x25, let pair = try? Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
                pair.count == 1
            {
                byte = pair[0]
                rest = rest.dropFirst(2)
            }
            let isBreak = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D || byte == 0x3D
            if isBreak, characters.count < length { continue }
            guard byte.isBase64, characters.count <= length else { break }
            characters.append(byte)
        }
        return characters
    }

    /// Checks the device identifier, the password and the authentication code, in this order, and decrypts the token.
    ///
    /// - Throws: `deviceNeeded`, `wrongDevice`, `passwordNeeded`, `wrongPassword`, `checksum`, or `field`.
    public func token(_ keys: SecurIDKeys = SecurIDKeys()) throws(SecurIDError) -> SecurIDToken {
        let keys = try keys.checked()
        let nonce = Array(bytes[67..<83])
        var device: String?
        var field = [UInt8](repeating: 0, count: 48)
        if isBound {
            device = keys.candidates.first {
                HashAlgorithm.sha256.hash(nonce + DeviceBinding.alphanumeric($0)) == Array(bytes[3..<35])
            }
            guard let device else { throw keys.deviceFailure }
            field = DeviceBinding.alphanumeric(device)
        } else {
            // Without a device the digest is over zeros; a different digest means that the string was modified.
            guard HashAlgorithm.sha256.hash(nonce + field) == Array(bytes[3..<35]) else { throw .checksum }
        }
        if isProtected, keys.password == nil { throw .passwordNeeded }
        var password = isProtected ? keys.password?.value.copyBytes() ?? [] : []
        defer { Secret.wipe(&password) }
        guard HashAlgorithm.sha256.hash(nonce + field + password) == Array(bytes[35..<67]) else {
            throw isProtected ? .wrongPassword : .checksum
        }
        let keysOfString = try Self.keys(password, field, nonce, version)
        let mac = HashAlgorithm.sha256.hmac(key: keysOfString.mac.value, Array(bytes[..<259]))
        guard constantTimeEqual(mac, Array(bytes[259...])) else { throw .checksum }
        var plain: [UInt8]
        do {
            plain = try AESCBC.decrypt(
                Array(bytes[83..<259]), key: keysOfString.encryption.value, initialisationVector: nonce)
        } catch { throw .crypto(error) }
        defer { Secret.wipe(&plain) }
        return try Self.token(plain, device)
    }

    private static func token(_ plain: [UInt8], _ device: String?) throws(SecurIDError) -> SecurIDToken {
        let serial = String(decoding: plain[..<16].prefix { $0 != 0 }, as: UTF8.self)
        let expiry = plain[48..<53].reduce(0) { $0 << 8 | Int($1) }
        return try SecurIDToken(
            serial: SecurIDToken.serial(padding: serial), seed: SharedSecret(Secret(plain[16..<32])),
            digits: Int(plain[35]), interval: .seconds(Int(plain[37])), type: type(plain[36]),
            expiry: expiry == 0 ? nil : UTCDate(day: expiry / unitsOfDay), deviceID: device)
    }

    /// Writes a token.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - password: The file password that protects it; `nil` for none.
    ///   - deviceID: The device to bind it to; `nil` for none.
    ///   - version: 3, which all tools read, or 4.
    ///   - random: The source of the nonce.
    /// - Returns: Base 64 with padding; percent-encode it for a URL.
    /// - Throws: `tooLong` for a password above 40 bytes, `random`, or `crypto`.
    public static func text(
        _ token: SecurIDToken, password: SharedSecret? = nil, deviceID: String? = nil, version: Int = 3,
        _ random: any RandomSource
    ) throws(SecurIDError) -> SharedSecret {
        let nonce: [UInt8]
        do { nonce = try random.draw(16, secret: false) } catch { throw .random }
        var phrase: [UInt8] = []
        if let password { phrase = password.value.copyBytes() }
        defer { Secret.wipe(&phrase) }
        guard phrase.count <= SecurIDLimits.password else { throw .tooLong("password", limit: SecurIDLimits.password) }
        let field = deviceID.map(DeviceBinding.alphanumeric) ?? [UInt8](repeating: 0, count: 48)
        let keys = try keys(phrase, field, nonce, version)
        var payload = payload(token)
        defer { Secret.wipe(&payload) }
        var bytes: [UInt8] = [UInt8(version), phrase.isEmpty ? 0 : 1, deviceID == nil ? 0 : 1]
        bytes += HashAlgorithm.sha256.hash(nonce + field)
        bytes += HashAlgorithm.sha256.hash(nonce + field + phrase)
        bytes += nonce
        do {
            bytes += try AESCBC.encrypt(payload, key: keys.encryption.value, initialisationVector: nonce)
        } catch { throw .crypto(error) }
        bytes += HashAlgorithm.sha256.hmac(key: keys.mac.value, bytes)
        return SharedSecret(Secret(utf8: Base64.encode(bytes)))
    }

    private static func payload(_ token: SecurIDToken) -> [UInt8] {
        var bytes = Array(token.serial.utf8).fitted(16) + token.seed.value.copyBytes()
        bytes += [1, 1, 0, UInt8(token.digits), token.type == .pinpad ? Handling.pinpad : Handling.none]
        bytes += [UInt8(clamping: token.interval.components.seconds)] + [UInt8](repeating: 0, count: 10)
        let units = (token.expiry?.day ?? 0) * unitsOfDay
        bytes += (0..<5).map { UInt8(truncatingIfNeeded: units >> (32 - 8 * $0)) }
        return bytes.fitted(160) + [UInt8](repeating: 0x10, count: 16)
    }

    /// A day in units of 256 ms.
    private static let unitsOfDay = 337_500

    static func type(_ handling: UInt8) -> SecurIDTokenType {
        handling == Handling.none || handling == Handling.keyfob ? .keyfob : .pinpad
    }

    /// The values for how the PIN is used; stoken adds the PIN for every value but the first.
    private enum Handling {
        static let none: UInt8 = 0x1F
        static let keyfob: UInt8 = 0x20
        static let pinpad: UInt8 = 0x21
    }

    private static let macLabel: [UInt8] = [
        0xD0, 0x14, 0x43, 0x3C, 0x6D, 0x17, 0x9F, 0xEB, 0xDA, 0x09, 0xAB, 0xFC, 0x32, 0x49, 0x63, 0x4C,
    ]
    private static let encryptionLabel: [UInt8] = [
        0x3B, 0xAF, 0xFF, 0x4D, 0x91, 0x8D, 0x89, 0xB6, 0x81, 0x60, 0xDE, 0x44, 0x4E, 0x05, 0xC0, 0xDD,
    ]

    private static func keys(
        _ password: [UInt8], _ device: [UInt8], _ nonce: [UInt8], _ version: Int
    ) throws(SecurIDError) -> (mac: SharedSecret, encryption: SharedSecret) {
        func key(_ label: [UInt8]) throws(SecurIDError) -> SharedSecret {
            var material = password + device + label + nonce
            defer { Secret.wipe(&material) }
            // Version 3 uses only every second byte.
            if version == 3 { material = stride(from: 1, to: material.count, by: 2).map { material[$0] } }
            do {
                return SharedSecret(
                    try HashAlgorithm.sha256.pbkdf2(Secret(material), salt: nonce, rounds: 1000, length: 32))
            } catch { throw .crypto(error) }
        }
        return (try key(macLabel), try key(encryptionLabel))
    }
}
