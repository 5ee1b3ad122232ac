// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Proton Authenticator's export, version 1: one URI per account; encrypted with Argon2id and AES-256-GCM
/// (`proton-authenticator`, `proton_authenticator_export.rs`).
enum ProtonExport: ExportFormat {
    static let format = AuthenticatorExport.Format.proton
    private static let hash = PasswordHash.argon2id(passes: 2, kibibytes: 19 << 10, lanes: 1)
    private static let context = Array("proton.authenticator.export.v1".utf8)
    private static let nonceSize = 12

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, let version = json["version"] else { return nil }
        let isEncrypted = json["salt"]?.string != nil && json["content"]?.string != nil && json["kdfParams"] == nil
        let entries = json["entries"]?.array
        let isPlain = entries.map { $0.isEmpty || $0[0]["content"]?.object != nil } ?? false
        guard isEncrypted || isPlain else { return nil }
        guard version.int == 1 else {
            throw .unreadable("Proton Authenticator export of another version", "ykit supports version 1")
        }
        guard isEncrypted else {
            return AuthenticatorExport(.proton) { () throws(ExportError) in try self.entries(json) }
        }
        return AuthenticatorExport(encrypted: .proton) { unlocking throws(ExportError) in
            try self.entries(try JSONValue(decrypted: try open(json, unlocking), .proton))
        }
    }

    private static func entries(_ json: JSONValue) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let entries = json["entries"]?.array else { throw .malformed(.proton, "entries") }
        return entries.map { entry in
            let content = entry["content"]
            return ExportFields.entry(code: content?.text("uri") ?? "", title: nil, user: content?.text("name"))
        }
    }

    /// The content is a nonce, the ciphertext and its tag.
    private static func open(_ json: JSONValue, _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        let format = AuthenticatorExport.Format.proton
        let key = try unlocking.key(hash, salt: try format.base64(json, "salt"), format)
        let sealed = try format.base64(json, "content")
        guard sealed.count >= nonceSize + AESGCM.tagSize else { throw .malformed(format, "content") }
        return try format.open(
            Array(sealed[nonceSize...]), key: key.value, nonce: Array(sealed[..<nonceSize]), context: context)
    }
}

extension AuthenticatorExport.Format {
    /// Proton Authenticator.
    public static let proton = Self(
        "Proton Authenticator", plain: "JSON, version 1", encrypted: "JSON, version 1 (Argon2id, AES-256-GCM)")
}
