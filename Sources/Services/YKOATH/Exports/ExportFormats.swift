// SPDX-License-Identifier: Apache-2.0

/// The list of formats. A new format is a type that conforms to ``ExportFormat`` and is listed here.
enum ExportFormats {
    /// In the order in which they are tried; the least specific formats come last.
    static let all: [any ExportFormat.Type] = [
        AegisExport.self,
        TwoFASExport.self,
        EnteExport.self,
        SteamExport.self,
        BitwardenExport.self,
        KeePassXCExport.self,
        StratumExport.self,
        FreeOTPPlusExport.self,
        ProtonExport.self,
        LastPassExport.self,
        TwoFAuthExport.self,
        FreeOTPExport.self,
        RaivoExport.self,
        AndOTPExport.self,
        TableExport.self,
    ]

    /// Recognizes a file as an export in one of them.
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport? {
        if file.column != nil { return try TableExport.recognize(file) }
        for format in all {
            if let export = try format.recognize(file) { return export }
        }
        return nil
    }
}
