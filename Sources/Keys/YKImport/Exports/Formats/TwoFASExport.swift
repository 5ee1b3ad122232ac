// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// 2FAS' backup, schema 1 to 4; encrypted with PBKDF2-SHA-256 and AES-256-GCM.
enum TwoFASExport: ExportFormat {
    static let format = AuthenticatorExport.Format.twoFAS
    private static let rounds = 10_000

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, let schema = json["schemaVersion"]?.int else { return nil }
        let sealed = json.text("servicesEncrypted") ?? ""
        guard json["services"]?.array != nil || !sealed.isEmpty else { return nil }
        guard schema <= 4 else {
            throw .unreadable("2FAS backup of schema \(schema)", "ykit supports schemas up to 4")
        }
        if sealed.isEmpty {
            return AuthenticatorExport(.twoFAS) { () throws(ExportError) in try entries(json["services"]) }
        }
        return AuthenticatorExport(encrypted: .twoFAS) { unlocking throws(ExportError) in
            let parts = sealed.split(separator: ":", omittingEmptySubsequences: false)
            let bytes = parts.compactMap { try? Base64.decode($0) }
            guard bytes.count == 3, parts.count == 3 else { throw .malformed(.twoFAS, "servicesEncrypted") }
            let key = try unlocking.key(.sha256, salt: bytes[1], rounds: rounds, .twoFAS)
            return try entries(
                try JSONValue(decrypted: try format.open(bytes[0], key: key.value, nonce: bytes[2]), .twoFAS))
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

extension AuthenticatorExport.Format {
    /// 2FAS.
    public static let twoFAS = Self(
        "2FAS", plain: ".2fas, schema 1 to 4", encrypted: ".2fas (PBKDF2, AES-256-GCM)")
}
