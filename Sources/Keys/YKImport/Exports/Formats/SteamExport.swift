// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A file of Steam's authenticator: a `maFile` of Steam Desktop Authenticator or steamguard-cli, or the `Steamguard`
/// file of the app, of one account or several. A key holds the secret of the codes; the secret that confirms trades and
/// the code that removes the authenticator stay in the file.
enum SteamExport: ExportFormat {
    static let format = AuthenticatorExport.Format.steam
    /// The secrets that a key cannot store.
    private static let omitted = ["identity_secret", "secret_1", "revocation_code"]

    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        guard let json = file.json else {
            if isEncrypted(file) {
                throw .unreadable(
                    "line of encrypted data, as in an encrypted maFile of Steam Desktop Authenticator",
                    "remove the encryption in that program, and import the maFile again")
            }
            return nil
        }
        if json["shared_secret"]?.string != nil {
            return AuthenticatorExport(format) { () throws(ExportError) in [entry(json)] }
        }
        if let accounts = json["accounts"]?.object,
            accounts.members.contains(where: { $0.value["shared_secret"] != nil })
        {
            return AuthenticatorExport(format) { () throws(ExportError) in accounts.members.map { entry($0.value) } }
        }
        if let entries = json["entries"]?.array, entries.first?["filename"]?.string != nil {
            throw .unreadable(
                "list of maFiles (manifest.json)",
                "import the .maFile files beside it; remove their encryption first if they have one")
        }
        return nil
    }

    private static func entry(_ account: JSONValue) -> AuthenticatorExport.Entry {
        let id = account["Session"]?["SteamID"] ?? account["steamid"] ?? account["steam_id"]
        let name =
            account.text("account_name").flatMap { $0.isEmpty ? nil : $0 } ?? id?.string ?? id?.int.map { "\($0)" }
        let fields = ExportFields(
            type: "steam", issuer: "Steam", name: name,
            secret: .bytes(account.text("shared_secret").flatMap { try? Base64.decode($0) }))
        return fields.entry(omitting: omitted.filter { account.text($0)?.isEmpty == false })
    }

    /// Whether the file is cipher blocks in base64, with nothing that identifies them.
    private static func isEncrypted(_ file: ExportFile) -> Bool {
        guard let text = file.text?.trimmed, (256...65_536).contains(text.utf8.count),
            !text.contains(where: \.isNewline),
            let bytes = try? Base64.decode(text)
        else { return false }
        return bytes.count.isMultiple(of: 16)
    }
}

extension AuthenticatorExport.Format {
    /// Steam's authenticator.
    public static let steam = Self(
        "Steam", plain: "maFile, Steamguard file",
        note: "only the secret of the codes; the secret that confirms trades and the revocation code stay in the file")
}
