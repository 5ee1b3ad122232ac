// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Ente Auth's encrypted export: Argon2id, then libsodium's secretstream over the lines of the plain export.
enum EnteExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard let parameters = json["kdfParams"], json.text("encryptedData") != nil,
            json.text("encryptionNonce") != nil
        else { return nil }
        return AuthenticatorExport(encrypted: .ente) { unlocking throws(ExportError) in
            var plain = try open(json, parameters, unlocking)
            defer { Secret.wipe(&plain) }
            guard let text = String(validating: plain, as: UTF8.self) else { throw .malformed(.ente, "encryptedData") }
            let lines = text.split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter { !$0.isEmpty }
            return lines.map { ExportFields.entry(code: $0, title: nil, user: nil) }
        }
    }

    private static func open(
        _ json: JSONValue, _ parameters: JSONValue, _ unlocking: ExportUnlocking
    ) throws(ExportError) -> [UInt8] {
        let format = AuthenticatorExport.Format.ente
        guard let memory = parameters["memLimit"]?.int, let passes = parameters["opsLimit"]?.int else {
            throw .malformed(format, "kdfParams")
        }
        let hash = PasswordHash.argon2id(
            passes: Int(clamping: passes), kibibytes: Int(clamping: memory / 1024), lanes: 1)
        let salt = try format.base64(parameters, "salt")
        let key = try unlocking.key(hash, salt: salt, format)
        let chunk = try format.base64(json, "encryptedData")
        let header = try format.base64(json, "encryptionNonce")
        guard chunk.count >= SecretStream.overhead, header.count == SecretStream.headerSize else {
            throw .malformed(format, "encryptedData")
        }
        do { return try SecretStream.open(chunk, key: key.value, header: header) } catch {
            if case .missingLibrary(let name) = error { throw .missingLibrary(format, name) }
            throw .wrongPassword(format)
        }
    }
}

/// Bitwarden's export, as JSON or CSV; encrypted under a password with PBKDF2 or Argon2id, AES-CBC and HMAC.
enum BitwardenExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard let encrypted = json["encrypted"] else { return nil }
        if case .bool(true) = encrypted {
            guard case .bool(true)? = json["passwordProtected"] else {
                throw .unreadable(
                    "account-encrypted Bitwarden export",
                    "only the account that made it can read it; export again with a password, or as plain JSON")
            }
            return AuthenticatorExport(encrypted: .bitwarden) { unlocking throws(ExportError) in
                var plain = try open(json, unlocking)
                defer { Secret.wipe(&plain) }
                return try entries(try JSONValue(decrypted: plain, .bitwarden))
            }
        }
        guard json["items"]?.array != nil else { return nil }
        return AuthenticatorExport(.bitwarden) { () throws(ExportError) in try entries(json) }
    }

    /// The CSV form, recognised by its header; Bitwarden Authenticator's has no user names.
    static func csv(_ text: String) -> AuthenticatorExport? {
        guard let table = CSVTable(text, requiring: ["name", "login_totp"]) else { return nil }
        return AuthenticatorExport(.bitwarden) { () throws(ExportError) in
            table.rows.compactMap { row in
                let code = table[row, "login_totp"]
                if code.trimmed.isEmpty { return nil }
                return ExportFields.entry(
                    code: code, title: table[row, "name"], user: table[row, "login_username"])
            }
        }
    }

    /// Skips items without a code, such as notes.
    private static func entries(_ json: JSONValue) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let items = json["items"]?.array else { throw .malformed(.bitwarden, "items") }
        return items.compactMap { item in
            guard let code = item["login"]?.text("totp"), !code.trimmed.isEmpty else { return nil }
            return ExportFields.entry(code: code, title: item.text("name"), user: item["login"]?.text("username"))
        }
    }

    private static func open(_ json: JSONValue, _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        let format = AuthenticatorExport.Format.bitwarden
        guard let salt = json.text("salt"), let rounds = json["kdfIterations"]?.int else {
            throw .malformed(format, "salt, kdfIterations")
        }
        let master: SharedSecret
        switch json["kdfType"]?.int {
        // The salt is the string's own bytes, although it looks like base 64.
        case 0:
            master = try unlocking.key(.sha256, salt: Array(salt.utf8), rounds: Int(clamping: rounds), format)
        case 1:
            guard let memory = json["kdfMemory"]?.int, let lanes = json["kdfParallelism"]?.int,
                (1...Int64(PasswordHash.memoryLimit >> 20)).contains(memory)
            else { throw .tooExpensive(format) }
            let hash = PasswordHash.argon2id(
                passes: Int(clamping: rounds), kibibytes: Int(clamping: memory * 1024), lanes: Int(clamping: lanes))
            master = try unlocking.key(hash, salt: HashAlgorithm.sha256.hash(Array(salt.utf8)), format)
        default:
            throw .unreadable("Bitwarden export with another key derivation", "this ykit knows PBKDF2 and Argon2id")
        }
        // HKDF-Expand with one block (RFC 5869 §2.3).
        var encryption = HashAlgorithm.sha256.hmac(key: master.value, Array("enc".utf8) + [1])
        var authentication = HashAlgorithm.sha256.hmac(key: master.value, Array("mac".utf8) + [1])
        defer {
            Secret.wipe(&encryption)
            Secret.wipe(&authentication)
        }
        return try opened(json.text("data") ?? "", Secret(encryption), Secret(authentication))
    }

    /// "2.", then IV, ciphertext and HMAC in base 64, separated by bars.
    private static func opened(
        _ text: String, _ encryption: borrowing Secret, _ authentication: borrowing Secret
    ) throws(ExportError) -> [UInt8] {
        let parts = text.dropFirst(2).split(separator: "|", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { try? Base64.decode($0) }
        guard text.hasPrefix("2."), bytes.count == 3, parts.count == 3 else { throw .malformed(.bitwarden, "data") }
        let expected = HashAlgorithm.sha256.hmac(key: authentication, bytes[0] + bytes[1])
        guard constantTimeEqual(expected, bytes[2]) else { throw .wrongPassword(.bitwarden) }
        return try AuthenticatorExport.Format.bitwarden.openCBC(bytes[1], key: encryption, vector: bytes[0])
    }
}

/// KeePassXC's CSV export, recognised by its header.
enum KeePassXCExport {
    static func recognize(_ text: String) -> AuthenticatorExport? {
        guard let table = CSVTable(text, requiring: ["Group", "Title", "Username", "TOTP"]) else { return nil }
        return AuthenticatorExport(.keePassXC) { () throws(ExportError) in
            table.rows.compactMap { row in
                let code = table[row, "TOTP"]
                if code.trimmed.isEmpty { return nil }
                return ExportFields.entry(code: code, title: table[row, "Title"], user: table[row, "Username"])
            }
        }
    }
}

/// Stratum's backup, formerly Authenticator Pro: plain JSON, or encrypted in one of two forms.
enum StratumExport {
    private static let mark = Array("AUTHENTICATORPRO".utf8), legacyMark = Array("AuthenticatorPro".utf8)
    private static let legacyRounds = 64_000

    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard json["Authenticators"]?.array != nil else { return nil }
        return AuthenticatorExport(.stratum) { () throws(ExportError) in try entries(json) }
    }

    static func encrypted(_ bytes: [UInt8]) -> AuthenticatorExport? {
        let isLegacy = bytes.starts(with: legacyMark)
        guard isLegacy || bytes.starts(with: mark) else { return nil }
        return AuthenticatorExport(encrypted: .stratum) { unlocking throws(ExportError) in
            var plain = isLegacy ? try openLegacy(bytes, unlocking) : try open(bytes, unlocking)
            defer { Secret.wipe(&plain) }
            return try entries(try JSONValue(decrypted: plain, .stratum))
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
