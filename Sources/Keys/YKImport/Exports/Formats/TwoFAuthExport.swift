// SPDX-License-Identifier: Apache-2.0

import YKWire

/// 2FAuth's export, schema 1 (2FAuth's documentation, "Export schema"), or with `otpauth` URIs.
enum TwoFAuthExport: ExportFormat {
    static let format = AuthenticatorExport.Format.twoFAuth

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, json.text("app")?.lowercased().hasPrefix("2fauth") == true else { return nil }
        // Its other form has a URI for each account, and no schema.
        if json["schema"] == nil, let accounts = json["data"]?.array, accounts.contains(where: { $0["uri"] != nil }) {
            return AuthenticatorExport(format) { () throws(ExportError) in
                accounts.map { ExportFields.entry(code: $0.text("uri") ?? "", title: nil, user: nil) }
            }
        }
        guard let schema = json["schema"] else { return nil }
        guard schema.int == 1 else {
            throw .unreadable("2FAuth export of another schema", "ykit supports schema 1")
        }
        guard let accounts = json["data"]?.array else { throw .malformed(format, "data") }
        return AuthenticatorExport(format) { () throws(ExportError) in accounts.map(entry) }
    }

    private static func entry(_ account: JSONValue) -> AuthenticatorExport.Entry {
        let type = account.text("otp_type") ?? ""
        return ExportFields(
            type: type.lowercased() == "steamtotp" ? "steam" : type, issuer: account.text("service"),
            name: account.text("account"), secret: .base32(account.text("secret")),
            algorithm: account.text("algorithm"), digits: account["digits"], period: account["period"],
            counter: account["counter"]
        ).entry
    }
}

extension AuthenticatorExport.Format {
    /// 2FAuth.
    public static let twoFAuth = Self("2FAuth", plain: "JSON, schema 1 or otpauth URIs")
}
