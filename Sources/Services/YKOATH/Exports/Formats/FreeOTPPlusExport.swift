// SPDX-License-Identifier: Apache-2.0

import YKWire

/// FreeOTP+'s export: a secret is an array of signed bytes, and the counter is one less than the next one used.
enum FreeOTPPlusExport: ExportFormat {
    static let format = AuthenticatorExport.Format.freeOTPPlus
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json, json["tokenOrder"]?.array != nil, let tokens = json["tokens"]?.array else {
            return nil
        }
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

extension AuthenticatorExport.Format {
    /// FreeOTP+.
    public static let freeOTPPlus = Self("FreeOTP+", plain: "JSON")
}
