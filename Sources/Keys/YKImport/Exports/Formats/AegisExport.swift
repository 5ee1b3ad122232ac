// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Aegis' vault, plain or encrypted: scrypt decrypts a password slot, whose key decrypts the vault (Aegis,
/// `docs/vault.md`).
enum AegisExport: ExportFormat {
    static let format = AuthenticatorExport.Format.aegis
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, json["header"]?.object != nil, let db = json["db"] else { return nil }
        if db.object != nil { return AuthenticatorExport(.aegis) { () throws(ExportError) in try entries(db) } }
        guard let sealed = db.string else { return nil }
        return AuthenticatorExport(encrypted: .aegis) { unlocking throws(ExportError) in
            try entries(try open(json, sealed, unlocking))
        }
    }

    private static func entries(_ db: JSONValue) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let entries = db["entries"]?.array else { throw .malformed(.aegis, "entries") }
        return entries.map { entry in
            let info = entry["info"]
            return ExportFields(
                type: entry.text("type") ?? "", issuer: entry.text("issuer"), name: entry.text("name"),
                secret: .base32(info?.text("secret")), algorithm: info?.text("algo"), digits: info?["digits"],
                period: info?["period"], counter: info?["counter"]
            ).entry
        }
    }

    /// Only slots of type 1 are encrypted with a password; types 0 and 2 are of other kinds.
    private static func open(
        _ json: JSONValue, _ sealed: String, _ unlocking: ExportUnlocking
    ) throws(ExportError) -> JSONValue {
        guard let slots = json["header"]?["slots"]?.array else { throw .malformed(.aegis, "header.slots") }
        let passwordSlots = slots.filter { $0["type"]?.int == 1 }
        guard !passwordSlots.isEmpty else {
            throw .unreadable("Aegis vault without a password", "set a password in Aegis and export again")
        }
        let parameters = json["header"]?["params"]
        let vault = try base64(sealed) + AuthenticatorExport.Format.aegis.hex(parameters, "tag")
        let nonce = try AuthenticatorExport.Format.aegis.hex(parameters, "nonce")
        let slotLimit = 16
        let hashes = try passwordSlots.prefix(slotLimit).map { slot throws(ExportError) in try hash(of: slot) }
        do { try PasswordHash.check(hashes) } catch { throw ExportError(error, .aegis) }
        for (slot, hash) in zip(passwordSlots, hashes) {
            do {
                let master = try master(of: slot, hash, unlocking)
                return try JSONValue(decrypted: try format.open(vault, key: master, nonce: nonce), .aegis)
            } catch .wrongPassword {
                continue
            }
        }
        throw .wrongPassword(.aegis)
    }

    private static func hash(of slot: JSONValue) throws(ExportError) -> PasswordHash {
        guard let cost = slot["n"]?.int, let blockSize = slot["r"]?.int, let parallelism = slot["p"]?.int else {
            throw .malformed(.aegis, "n, r, p")
        }
        return .scrypt(
            cost: Int(clamping: cost), blockSize: Int(clamping: blockSize), parallelism: Int(clamping: parallelism))
    }

    private static func master(
        of slot: JSONValue, _ hash: PasswordHash, _ unlocking: ExportUnlocking
    ) throws(ExportError) -> Secret {
        let format = AuthenticatorExport.Format.aegis
        let key = try unlocking.key(hash, salt: try format.hex(slot, "salt"), format)
        let sealed = try format.hex(slot, "key") + format.hex(slot["key_params"], "tag")
        var master = try format.open(sealed, key: key.value, nonce: try format.hex(slot["key_params"], "nonce"))
        defer { Secret.wipe(&master) }
        guard master.count == 32 else { throw .malformed(.aegis, "key") }
        return Secret(master)
    }

    private static func base64(_ text: String) throws(ExportError) -> [UInt8] {
        guard let bytes = try? Base64.decode(text) else { throw .malformed(.aegis, "db") }
        return bytes
    }
}

extension AuthenticatorExport.Format {
    /// Aegis.
    public static let aegis = Self(
        "Aegis", plain: "JSON", encrypted: "JSON with a password (scrypt, AES-256-GCM)")
}
