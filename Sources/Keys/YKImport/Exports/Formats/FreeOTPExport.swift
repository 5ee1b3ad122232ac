// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// FreeOTP 2's backup, `externalBackup.xml`: a serialized Java map of strings that are JSON. A password decrypts the master
/// key, which decrypts the secret of each token (FreeOTP, `MasterKey.java`, `EncryptedKey.java`).
enum FreeOTPExport: ExportFormat {
    static let format = AuthenticatorExport.Format.freeOTP
    private static let master = "masterKey", tokenSuffix = "-token"

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard file.bytes.starts(with: JavaMap.mark) else { return nil }
        let map: JavaMap
        do { map = try JavaMap(file.bytes) } catch {
            guard error.code != .malformed else {
                throw .unreadable("file of serialized Java objects", "ykit reads only FreeOTP 2 backups of this kind")
            }
            throw .malformed(format, "the map of strings")
        }
        guard let key = map.json(master) else { throw .malformed(format, master) }
        return AuthenticatorExport(encrypted: format) { unlocking throws(ExportError) in
            let key = try open(key, unlocking)
            // Key and token are stored separately, and either names an account, even without the other.
            var ids: [String] = []
            for name in map.keys where name != master {
                let id = name.hasSuffix(tokenSuffix) ? String(name.dropLast(tokenSuffix.count)) : name
                if name == id || map[id] == nil { ids.append(id) }
            }
            return ids.map { entry($0, of: map, key) }
        }
    }

    private static func open(_ json: JSONValue, _ unlocking: ExportUnlocking) throws(ExportError) -> SharedSecret {
        let hashes: [String: HashAlgorithm] = ["pbkdf2withhmacsha512": .sha512, "pbkdf2withhmacsha1": .sha1]
        guard let hash = json.text("mAlgorithm").flatMap({ hashes[$0.lowercased()] }) else {
            throw .unreadable(
                "FreeOTP 2 backup with another key derivation", "ykit supports PBKDF2 with SHA-1 and SHA-512")
        }
        // The salt has as many bytes as the key.
        guard let salt = bytes(json["mSalt"]), salt.count == 32, let rounds = json["mIterations"]?.int else {
            throw .malformed(format, "mSalt, mIterations")
        }
        guard let sealed = Sealed(json["mEncryptedKey"]) else { throw .malformed(format, "mEncryptedKey") }
        let key = try unlocking.key(hash, salt: salt, rounds: Int(clamping: rounds), format)
        var master = try format.open(sealed.bytes, key: key.value, nonce: sealed.nonce, context: sealed.context)
        defer { Secret.wipe(&master) }
        guard master.count == 32 else { throw .malformed(format, "mEncryptedKey") }
        return SharedSecret(Secret(master))
    }

    /// The counter is the next one used. The issuer decides whether codes are Steam's.
    private static func entry(_ id: String, of map: JavaMap, _ key: SharedSecret) -> AuthenticatorExport.Entry {
        let token = map.json(id + tokenSuffix)
        let sealed = map.json(id)?.text("key").flatMap { try? JSONValue(parsing: $0) }.flatMap { Sealed($0) }
        let secret = sealed.flatMap {
            try? format.open($0.bytes, key: key.value, nonce: $0.nonce, context: $0.context)
        }
        let issuer = [token?.text("issuerExt"), token?.text("issuerInt")].compactMap { $0 }.first { !$0.isEmpty }
        let isSteam = issuer == "Steam" && token?.text("type") == "TOTP"
        return ExportFields(
            type: isSteam ? "steam" : token?.text("type") ?? "", issuer: issuer, name: token?.text("label"),
            secret: .bytes(secret), algorithm: token?.text("algo"), digits: token?["digits"], period: token?["period"],
            counter: token?["counter"]
        ).entry
    }

    /// An array of signed bytes.
    fileprivate static func bytes(_ json: JSONValue?) -> [UInt8]? {
        let numbers = json?.array?.map { $0.int.flatMap { Int8(exactly: $0) } }
        return numbers.flatMap { $0.contains(nil) ? nil : $0.compactMap { $0.map { UInt8(bitPattern: $0) } } }
    }

    /// A key that is encrypted with AES-GCM; the name of its algorithm is authenticated with it.
    private struct Sealed {
        let bytes: [UInt8]
        let nonce: [UInt8]
        let context: [UInt8]

        init?(_ json: JSONValue?) {
            guard let json, json.text("mCipher") == "AES/GCM/NoPadding", let name = json.text("mToken"),
                let bytes = FreeOTPExport.bytes(json["mCipherText"]),
                let nonce = FreeOTPExport.bytes(json["mParameters"]).flatMap(Self.nonce)
            else { return nil }
            (self.bytes, self.nonce, context) = (bytes, nonce, Array(name.utf8))
        }

        /// The nonce of 12 bytes in parameters with a tag of 16 bytes (RFC 5084 §3.2), or by itself.
        private static func nonce(_ der: [UInt8]) -> [UInt8]? {
            let nonce: [UInt8] = [0x04, 12]
            let isSequence = der.starts(with: [0x30, 17] + nonce) && der.count == 19 && der.hasSuffix([0x02, 1, 16])
            guard isSequence || der.starts(with: nonce) && der.count == 14 else { return nil }
            return Array(der.dropFirst(isSequence ? 4 : 2).prefix(12))
        }
    }
}

/// A `java.util.HashMap` of strings in the order of its serialization (Java Object Serialization Specification §6.4).
private struct JavaMap: Sendable {
    static let mark: [UInt8] = [0xAC, 0xED, 0x00, 0x05]

    /// An object and its class descriptor, of a map with data of its own, up to the number of fields.
    private static let head =
        [0x73, 0x72, 0x00, 0x11] + Array("java.util.HashMap".utf8)
        + [0x05, 0x07, 0xDA, 0xC1, 0xC3, 0x16, 0x60, 0xD1, 0x03]

    private(set) var keys: [String] = []
    /// The places of the values among the strings.
    private var values: [String: Int] = [:]
    /// The strings that later ones may refer to.
    private var strings: [String] = []
    /// The values that are JSON, by their places: each is parsed once, however many keys refer to it.
    private var documents: [Int: JSONValue] = [:]

    subscript(key: String) -> String? { values[key].map { strings[$0] } }

    func json(_ key: String) -> JSONValue? { values[key].flatMap { documents[$0] } }

    /// Reads a map.
    ///
    /// - Throws: `WireError`, with the code `malformed` if the object is not a map of strings.
    init(_ bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.bytes(4) == Self.mark, try reader.bytes(Self.head.count) == Self.head else {
            throw WireError(.malformed, at: reader.offset, "no map")
        }
        // Android 6 has only the load factor, later versions the threshold as well: numbers of four bytes.
        let fields = Int(try reader.uint16())
        for _ in 0..<fields {
            let type = try reader.byte()
            _ = try reader.bytes(Int(try reader.uint16()))
            guard [UInt8(ascii: "F"), UInt8(ascii: "I")].contains(type), fields <= 4 else {
                throw WireError(.malformed, at: reader.offset, "no map")
            }
        }
        guard try reader.bytes(2) == [0x78, 0x70] else { throw WireError(.malformed, at: reader.offset, "no map") }
        // The fields, and a block of the capacity and the number of entries.
        _ = try reader.bytes(4 * fields)
        guard try reader.bytes(2) == [0x77, 0x08] else { throw WireError(.malformed, at: reader.offset, "no map") }
        _ = try reader.bytes(4)
        let count = try reader.uint32()
        // References make a small file large; a backup has next to none.
        var room = 4 * bytes.count + 1 << 20
        for _ in 0..<count {
            let key = strings[try string(&reader)]
            guard values[key] == nil else { throw WireError(.duplicate, at: reader.offset, "a key") }
            let place = try string(&reader)
            room -= strings[place].utf8.count
            guard room >= 0 else { throw WireError(.tooLarge, at: reader.offset, "the map with its references") }
            values[key] = place
            keys.append(key)
        }
        for place in Set(values.values) { documents[place] = try? JSONValue(repairing: Array(strings[place].utf8)) }
        guard try reader.byte() == 0x78 else { throw WireError(.trailing, at: reader.offset, "more than the map") }
        try reader.finish()
    }

    /// The place of a string, or of the one that is referred to; the descriptor and the map have the first two handles.
    private mutating func string(_ reader: inout ByteReader) throws(WireError) -> Int {
        let length: Int
        switch try reader.byte() {
        case 0x74: length = Int(try reader.uint16())
        case 0x7C: length = Int(clamping: try reader.bigEndian(8))
        case 0x71:
            let handle = Int(try reader.uint32()) - 0x7E_0002
            guard strings.indices.contains(handle) else { throw WireError(.malformed, at: reader.offset, "a handle") }
            return handle
        default: throw WireError(.malformed, at: reader.offset - 1, "no string")
        }
        strings.append(try Self.text(try reader.bytes(length)))
        return strings.count - 1
    }

    /// Modified UTF-8: UTF-16 code units in one to three bytes each, and zero in two.
    private static func text(_ bytes: [UInt8]) throws(WireError) -> String {
        var units: [UInt16] = []
        var index = 0
        while index < bytes.count {
            let size = bytes[index] < 0x80 ? 1 : bytes[index] < 0xE0 ? 2 : 3
            let rest = bytes[(index + 1)...].prefix(size - 1)
            let isValid = size == 1 || (0xC0..<0xF0).contains(bytes[index]) && rest.count == size - 1
            guard isValid, rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else {
                throw WireError(.truncated, at: index, "a character")
            }
            let lead = UInt16(bytes[index] & [0x7F, 0x1F, 0x0F][size - 1])
            units.append(rest.reduce(lead) { $0 << 6 | UInt16($1 & 0x3F) })
            index += size
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw WireError(.truncated, at: bytes.count, "a character")
        }
        return text
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}

extension AuthenticatorExport.Format {
    /// FreeOTP 2.
    public static let freeOTP = Self("FreeOTP 2", encrypted: "externalBackup.xml (PBKDF2, AES-256-GCM)")
}

/// FreeOTP+'s export: a secret is an array of signed bytes, and the counter is one less than the next one used.
enum FreeOTPPlusExport: ExportFormat {
    static let format = AuthenticatorExport.Format.freeOTPPlus
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, json["tokenOrder"]?.array != nil, let tokens = json["tokens"]?.array else {
            return nil
        }
        return AuthenticatorExport(.freeOTPPlus) { () throws(ExportError) in tokens.map(entry) }
    }

    private static func entry(_ token: JSONValue) -> AuthenticatorExport.Entry {
        let counter = token["counter"]?.int.flatMap { $0 < .max ? JSONValue.int($0 + 1) : nil } ?? token["counter"]
        let issuer = [token.text("issuerExt"), token.text("issuerInt")].compactMap { $0 }.first { !$0.isEmpty }
        return ExportFields(
            type: token.text("type") ?? "totp", issuer: issuer, name: token.text("label"),
            secret: .bytes(FreeOTPExport.bytes(token["secret"])), algorithm: token.text("algo"),
            digits: token["digits"], period: token["period"], counter: counter
        ).entry
    }
}

extension AuthenticatorExport.Format {
    /// FreeOTP+.
    public static let freeOTPPlus = Self("FreeOTP+", plain: "JSON")
}
