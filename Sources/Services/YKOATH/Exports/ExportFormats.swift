// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// Aegis' vault, plain or encrypted: scrypt decrypts a password slot, whose key decrypts the vault (Aegis,
/// `docs/vault.md`).
enum AegisExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard json["header"]?.object != nil, let db = json["db"] else { return nil }
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
                var plain = try AuthenticatorExport.Format.aegis.open(vault, key: master, nonce: nonce)
                defer { Secret.wipe(&plain) }
                return try JSONValue(decrypted: plain, .aegis)
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

/// 2FAS' backup, schema 1 to 4; encrypted with PBKDF2-SHA-256 and AES-256-GCM.
enum TwoFASExport {
    private static let rounds = 10_000

    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard let schema = json["schemaVersion"]?.int else { return nil }
        let sealed = json.text("servicesEncrypted") ?? ""
        guard json["services"]?.array != nil || !sealed.isEmpty else { return nil }
        guard schema <= 4 else {
            throw .unreadable("2FAS backup of schema \(schema)", "this ykit knows schemas up to 4")
        }
        if sealed.isEmpty {
            return AuthenticatorExport(.twoFAS) { () throws(ExportError) in try entries(json["services"]) }
        }
        return AuthenticatorExport(encrypted: .twoFAS) { unlocking throws(ExportError) in
            let parts = sealed.split(separator: ":", omittingEmptySubsequences: false)
            let bytes = parts.compactMap { try? Base64.decode($0) }
            guard bytes.count == 3, parts.count == 3 else { throw .malformed(.twoFAS, "servicesEncrypted") }
            let key = try unlocking.key(.sha256, salt: bytes[1], rounds: rounds, .twoFAS)
            var plain = try AuthenticatorExport.Format.twoFAS.open(bytes[0], key: key.value, nonce: bytes[2])
            defer { Secret.wipe(&plain) }
            return try entries(try JSONValue(decrypted: plain, .twoFAS))
        }
    }

    /// `name` is the service; without an issuer it may repeat the account.
    private static func entries(_ services: JSONValue?) throws(ExportError) -> [AuthenticatorExport.Entry] {
        guard let services = services?.array else { throw .malformed(.twoFAS, "services") }
        return services.map { service in
            let otp = service["otp"]
            let title = service.text("name")
            let account = [otp?.text("account"), otp?.text("label"), title].compactMap { $0 }.first { !$0.isEmpty }
            let issuer = otp?.text("issuer").flatMap { $0.isEmpty ? nil : $0 } ?? (title == account ? nil : title)
            return ExportFields(
                type: otp?.text("tokenType") ?? "totp", issuer: issuer, name: account,
                secret: .base32(service.text("secret")), algorithm: otp?.text("algorithm"), digits: otp?["digits"],
                period: otp?["period"], counter: otp?["counter"]
            ).entry
        }
    }
}

/// andOTP's backup: an array. Encrypted with a PBKDF2-SHA-1 key, or before version 0.6.3 with a hash of the password.
enum AndOTPExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard let accounts = json.array, let first = accounts.first, first["secret"]?.string != nil,
            first["label"]?.string != nil, first["type"]?.string != nil
        else { return nil }
        return AuthenticatorExport(.andOTP) { () throws(ExportError) in accounts.map(entry) }
    }

    /// An encrypted backup has no mark but the number of rounds at its start, and before version 0.6.3 none at all: with
    /// `guessing`, any file that is in no known format is taken for one, and decrypting it decides.
    static func encrypted(_ bytes: [UInt8], guessing: Bool) -> AuthenticatorExport? {
        guard bytes.count > 12 + AESGCM.tagSize, !isKnownElsewhere(bytes), guessing || hasRounds(bytes)
        else { return nil }
        return AuthenticatorExport(encrypted: .andOTP) { unlocking throws(ExportError) in
            var plain = try open(bytes, unlocking)
            defer { Secret.wipe(&plain) }
            guard let accounts = try JSONValue(decrypted: plain, .andOTP).array else {
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

/// Raivo's export: an array in which every value is a string, alone or in a password-protected ZIP archive.
enum RaivoExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard let accounts = json.array, let first = accounts.first, first["kind"]?.string != nil,
            first["timer"] != nil
        else { return nil }
        return AuthenticatorExport(.raivo) { () throws(ExportError) in accounts.map(entry) }
    }

    private static func entry(_ account: JSONValue) -> AuthenticatorExport.Entry {
        ExportFields(
            type: account.text("kind") ?? "", issuer: account.text("issuer"), name: account.text("account"),
            secret: .base32(account.text("secret")), algorithm: account.text("algorithm"), digits: account["digits"],
            period: account["timer"], counter: account["counter"]
        ).entry
    }
}

/// FreeOTP+'s export: a secret is an array of signed bytes, and the counter is one less than the next one used.
enum FreeOTPPlusExport {
    static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        guard json["tokenOrder"]?.array != nil, let tokens = json["tokens"]?.array else { return nil }
        return AuthenticatorExport(.freeOTPPlus) { () throws(ExportError) in tokens.map(entry) }
    }

    private static func entry(_ token: JSONValue) -> AuthenticatorExport.Entry {
        let numbers = token["secret"]?.array?.map { $0.int.flatMap { Int8(exactly: $0) } }
        let secret = numbers.flatMap { $0.contains(nil) ? nil : $0.compactMap { $0.map { UInt8(bitPattern: $0) } } }
        let counter = token["counter"]?.int.flatMap { $0 < .max ? JSONValue.int($0 + 1) : nil } ?? token["counter"]
        let issuer = [token.text("issuerExt"), token.text("issuerInt")].compactMap { $0 }.first { !$0.isEmpty }
        return ExportFields(
            type: token.text("type") ?? "totp", issuer: issuer, name: token.text("label"), secret: .bytes(secret),
            algorithm: token.text("algo"), digits: token["digits"], period: token["period"], counter: counter
        ).entry
    }
}
