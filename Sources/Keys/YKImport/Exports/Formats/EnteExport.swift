// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Ente Auth's encrypted export: Argon2id, then libsodium's secretstream over the lines of the plain export.
enum EnteExport: ExportFormat {
    static let format = AuthenticatorExport.Format.ente
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, let parameters = json["kdfParams"], json.text("encryptedData") != nil,
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

extension AuthenticatorExport.Format {
    /// Ente Auth.
    public static let ente = Self(
        "Ente Auth", plain: "lines of otpauth URIs", encrypted: "JSON (Argon2id, secretstream of libsodium)")
}
