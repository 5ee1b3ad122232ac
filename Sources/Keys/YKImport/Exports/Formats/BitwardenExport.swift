// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Bitwarden's export, as JSON or CSV; encrypted under a password with PBKDF2 or Argon2id, AES-CBC and HMAC.
enum BitwardenExport: ExportFormat {
    static let format = AuthenticatorExport.Format.bitwarden
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json else { return file.table.flatMap(csv) }
        guard let encrypted = json["encrypted"] else { return nil }
        if case .bool(true) = encrypted {
            guard case .bool(true)? = json["passwordProtected"] else {
                throw .unreadable(
                    "account-encrypted Bitwarden export",
                    "only the account that made it can read it; export again with a password, or as plain JSON")
            }
            return AuthenticatorExport(encrypted: .bitwarden) { unlocking throws(ExportError) in
                try entries(try JSONValue(decrypted: try open(json, unlocking), .bitwarden))
            }
        }
        guard json["items"]?.array != nil else { return nil }
        return AuthenticatorExport(.bitwarden) { () throws(ExportError) in try entries(json) }
    }

    /// The CSV form, recognized by its header; Bitwarden Authenticator's has no user names.
    private static func csv(_ table: CSVTable) -> AuthenticatorExport? {
        guard table.has("name", "login_totp") else { return nil }
        return AuthenticatorExport(.bitwarden) { () throws(ExportError) in
            table.entries(code: "login_totp", title: "name", user: "login_username")
        }
    }

    /// Skips items without a code, such as notes.
    private static func entries(_ json: JSONValue) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let items = json["items"]?.array else { throw .malformed(.bitwarden, "items") }
        return items.compactMap { item in
            guard let code = item["login"]?.text("totp"), !code.trimmed.isEmpty else { return nil }
            return ExportFields.entry(
                code: code, title: item.text("name").map(withoutNull), user: item["login"]?.text("username"))
        }
    }

    /// Bitwarden Authenticator writes "Shop:null" for an account that has no name.
    private static func withoutNull(_ title: String) -> String {
        title.hasSuffix(":null") ? String(title.dropLast(":null".count)) : title
    }

    private static func open(_ json: JSONValue, _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        let format = AuthenticatorExport.Format.bitwarden
        guard let salt = json.text("salt"), let rounds = json["kdfIterations"]?.int else {
            throw .malformed(format, "salt, kdfIterations")
        }
        let master: SharedSecret
        switch json["kdfType"]?.int {
        // The salt is the string's own bytes, although it looks like base64.
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
            throw .unreadable("Bitwarden export with another key derivation", "ykit supports PBKDF2 and Argon2id")
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

    /// "2.", then IV, ciphertext and HMAC in base64, separated by bars.
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

extension AuthenticatorExport.Format {
    /// Bitwarden and Bitwarden Authenticator.
    public static let bitwarden = Self(
        "Bitwarden", plain: "JSON, CSV, ZIP with attachments",
        encrypted: "JSON with a password (PBKDF2 or Argon2id, AES-256-CBC)",
        note: "Bitwarden Authenticator too; only the account itself can read an account-encrypted export")
}
