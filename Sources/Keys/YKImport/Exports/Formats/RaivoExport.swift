// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Raivo's export: an array in which every value is a string, alone or in a password-protected ZIP archive.
enum RaivoExport: ExportFormat {
    static let format = AuthenticatorExport.Format.raivo
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let accounts = file.json?.array, let first = accounts.first, first["kind"]?.string != nil,
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

extension AuthenticatorExport.Format {
    /// Raivo OTP.
    public static let raivo = Self("Raivo OTP", plain: "JSON", encrypted: "ZIP (AES)")
}
