// SPDX-License-Identifier: Apache-2.0

/// KeePassXC's CSV export, recognized by its header.
enum KeePassXCExport: ExportFormat {
    static let format = AuthenticatorExport.Format.keePassXC
    static func recognize(_ file: ExportFile) -> AuthenticatorExport? {
        guard let table = file.table, table.has("Group", "Title", "Username", "TOTP") else { return nil }
        return AuthenticatorExport(.keePassXC) { () throws(ExportError) in
            table.entries(code: "TOTP", title: "Title", user: "Username")
        }
    }
}

extension AuthenticatorExport.Format {
    /// KeePassXC.
    public static let keePassXC = Self("KeePassXC", plain: "CSV", note: "not its database")
}
