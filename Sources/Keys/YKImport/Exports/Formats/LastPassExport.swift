// SPDX-License-Identifier: Apache-2.0

import YKWire

/// LastPass Authenticator's export: names as the service gave them, and as the user changed them.
enum LastPassExport: ExportFormat {
    static let format = AuthenticatorExport.Format.lastPass

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, let accounts = json["accounts"]?.array else { return nil }
        let isOfDevice = json["localDeviceId"] != nil && json["deviceName"] != nil
        guard isOfDevice || accounts.first?["originalIssuerName"] != nil else { return nil }
        return AuthenticatorExport(format) { () throws(ExportError) in accounts.map(entry) }
    }

    private static func entry(_ account: JSONValue) -> AuthenticatorExport.Entry {
        func first(_ names: String...) -> String? {
            names.compactMap { account.text($0) }.first { !$0.trimmed.isEmpty }
        }
        return ExportFields(
            issuer: first("issuerName", "originalIssuerName"), name: first("userName", "originalUserName"),
            secret: .base32(account.text("secret")), algorithm: account.text("algorithm"), digits: account["digits"],
            period: account["timeStep"]
        ).entry
    }
}

extension AuthenticatorExport.Format {
    /// LastPass Authenticator.
    public static let lastPass = Self(
        "LastPass Authenticator", plain: "JSON", note: "not the CSV of the password manager")
}
