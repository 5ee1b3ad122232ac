// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Stratum's backup, formerly Authenticator Pro: plain JSON, or encrypted in one of two forms.
enum StratumExport: ExportFormat {
    static let format = AuthenticatorExport.Format.stratum
    private static let mark = Array("AUTHENTICATORPRO".utf8), legacyMark = Array("AuthenticatorPro".utf8)
    private static let legacyRounds = 64_000

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        if let backup = encrypted(file.bytes) { return backup }
        guard let json = file.json, json["Authenticators"]?.array != nil else { return nil }
        return AuthenticatorExport(.stratum) { () throws(ExportError) in try entries(json) }
    }

    private static func encrypted(_ bytes: [UInt8]) -> AuthenticatorExport? {
        let isLegacy = bytes.starts(with: legacyMark)
        guard isLegacy || bytes.starts(with: mark) else { return nil }
        return AuthenticatorExport(encrypted: .stratum) { unlocking throws(ExportError) in
            let open = isLegacy ? Self.openLegacy : Self.open
            return try entries(try JSONValue(decrypted: try open(bytes, unlocking), .stratum))
        }
    }

    /// A 16-byte salt and a 12-byte nonce; Argon2id with 3 passes over 64 MiB in 4 lanes.
    private static func open(_ bytes: [UInt8], _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        guard bytes.count >= 44 + AESGCM.tagSize else { throw .malformed(.stratum, "the file ends early") }
        let hash = PasswordHash.argon2id(passes: 3, kibibytes: 64 << 10, lanes: 4)
        let key = try unlocking.key(hash, salt: Array(bytes[16..<32]), .stratum)
        return try AuthenticatorExport.Format.stratum.open(
            Array(bytes[44...]), key: key.value, nonce: Array(bytes[32..<44]))
    }

    /// A 20-byte salt and a 16-byte IV; PBKDF2-SHA-1.
    private static func openLegacy(_ bytes: [UInt8], _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        guard bytes.count > 52 else { throw .malformed(.stratum, "the file ends early") }
        let key = try unlocking.key(.sha1, salt: Array(bytes[16..<36]), rounds: legacyRounds, .stratum)
        return try AuthenticatorExport.Format.stratum.openCBC(
            Array(bytes[52...]), key: key.value, vector: Array(bytes[36..<52]))
    }

    /// The issuer is never empty: without a user name it holds the account's name.
    private static func entries(_ json: JSONValue) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let accounts = json["Authenticators"]?.array else { throw .malformed(.stratum, "Authenticators") }
        return accounts.map { account in
            let number = account["Type"]?.int
            let type = number.flatMap { [1: "hotp", 2: "totp", 3: "mOTP", 4: "steam", 5: "yandex"][$0] }
            let algorithm = account["Algorithm"]?.int
            let user = account.text("Username").flatMap { $0.isEmpty ? nil : $0 }
            return ExportFields(
                type: type ?? number.map { "type \($0)" } ?? "", issuer: user == nil ? nil : account.text("Issuer"),
                name: user ?? account.text("Issuer"), secret: .base32(account.text("Secret")),
                algorithm: algorithm.map { [0: "SHA1", 1: "SHA256", 2: "SHA512"][$0] ?? "algorithm \($0)" },
                digits: account["Digits"], period: account["Period"], counter: account["Counter"]
            ).entry
        }
    }
}

extension AuthenticatorExport.Format {
    /// Stratum, formerly Authenticator Pro.
    public static let stratum = Self(
        "Stratum", plain: "JSON", encrypted: ".authpro (Argon2id, AES-256-GCM; before: PBKDF2, AES-256-CBC)",
        note: "formerly Authenticator Pro")
}
