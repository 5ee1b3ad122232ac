// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// andOTP's backup: an array. Encrypted with a PBKDF2-SHA-1 key, or before version 0.6.3 with a hash of the password.
enum AndOTPExport: ExportFormat {
    static let format = AuthenticatorExport.Format.andOTP
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        if file.text == nil { return encrypted(file.bytes, isGuessed: file.isGuessed) }
        guard let accounts = file.json?.array, let first = accounts.first, first["secret"]?.string != nil,
            first["label"]?.string != nil, first["type"]?.string != nil
        else { return nil }
        return AuthenticatorExport(.andOTP) { () throws(ExportError) in accounts.map(entry) }
    }

    /// An encrypted backup is identified only by the number of rounds at its start, and before version 0.6.3 by
    /// nothing: with `isGuessed`, any file in no known format is treated as one, and decrypting it decides.
    private static func encrypted(_ bytes: [UInt8], isGuessed: Bool) -> AuthenticatorExport? {
        guard bytes.count > 12 + AESGCM.tagSize, !isKnownElsewhere(bytes), isGuessed || hasRounds(bytes)
        else { return nil }
        return AuthenticatorExport(encrypted: .andOTP) { unlocking throws(ExportError) in
            guard let accounts = try JSONValue(decrypted: try open(bytes, unlocking), .andOTP).array else {
                throw .malformed(.andOTP, "accounts")
            }
            return accounts.map(entry)
        }
    }

    /// Whether the bytes are an archive, image, program or document, and so not an andOTP backup.
    private static func isKnownElsewhere(_ bytes: [UInt8]) -> Bool {
        let starts: [[UInt8]] = [
            Array("PK".utf8), Array("%PDF".utf8), Array("Rar!".utf8), Array("GIF8".utf8), Array("RIFF".utf8),
            Array("BM".utf8), [0x7F, 0x45, 0x4C, 0x46], [0x1F, 0x8B], [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF],
            [0x28, 0xB5, 0x2F, 0xFD], [0xFD, 0x37, 0x7A, 0x58], [0x37, 0x7A, 0xBC, 0xAF],
        ]
        return starts.contains { bytes.starts(with: $0) }
    }

    /// andOTP uses 140,000 to 160,000 rounds (`EncryptionHelper`); in the old form these bytes are the nonce.
    private static func hasRounds(_ bytes: [UInt8]) -> Bool {
        (140_000...160_000).contains(rounds(bytes)) && bytes.count > 28 + AESGCM.tagSize
    }

    private static func rounds(_ bytes: [UInt8]) -> Int { bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }

    private static func open(_ bytes: [UInt8], _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        let format = AuthenticatorExport.Format.andOTP
        if hasRounds(bytes) {
            let key = try unlocking.key(.sha1, salt: Array(bytes[4..<16]), rounds: rounds(bytes), format)
            do {
                return try format.open(Array(bytes[28...]), key: key.value, nonce: Array(bytes[16..<28]))
            } catch .wrongPassword {
                // The old form is tried next.
            }
        }
        var text = unlocking.password.value.copyBytes()
        defer { Secret.wipe(&text) }
        var digest = HashAlgorithm.sha256.hash(text)
        defer { Secret.wipe(&digest) }
        return try format.open(Array(bytes[12...]), key: Secret(digest), nonce: Array(bytes[..<12]))
    }

    /// Older versions had no issuer field and put the issuer into the label, as in "Example - alice".
    private static func entry(_ account: JSONValue) -> AuthenticatorExport.Entry {
        var issuer = account.text("issuer")
        var name = account.text("label")
        if account["issuer"] == nil, let label = name {
            let parts = label.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
            let halves = parts.map { String(Substring($0)) }
            if halves.count == 2, halves[0].hasSuffix(" "), halves[1].hasPrefix(" "), !halves[1].trimmed.isEmpty {
                (issuer, name) = (halves[0].trimmed, halves[1].trimmed)
            }
        }
        return ExportFields(
            type: account.text("type") ?? "", issuer: issuer, name: name, secret: .base32(account.text("secret")),
            algorithm: account.text("algorithm"), digits: account["digits"], period: account["period"],
            counter: account["counter"]
        ).entry
    }
}

extension AuthenticatorExport.Format {
    /// andOTP.
    public static let andOTP = Self(
        "andOTP", plain: "JSON", encrypted: ".json.aes (PBKDF2, AES-256-GCM)",
        note: "a backup before 0.6.3 is recognized only by its password")
}
