// SPDX-License-Identifier: Apache-2.0

import YKWire

extension AuthenticatorExport {
    /// A format of exports: the program that writes it, and the kinds of files it writes. Two formats are equal if the
    /// same program writes them.
    public struct Format: Hashable, Sendable, CustomStringConvertible {
        /// The program.
        public let name: String
        /// The kind of its unencrypted file, such as "JSON"; `nil` if all are encrypted.
        public let plain: String?
        /// The kind of its file under a password, and how it is encrypted; `nil` if none is.
        public let encrypted: String?
        /// A note on its files, such as a kind that cannot be read.
        public let note: String?

        init(_ name: String, plain: String? = nil, encrypted: String? = nil, note: String? = nil) {
            (self.name, self.plain, self.encrypted, self.note) = (name, plain, encrypted, note)
        }

        /// The program.
        public var description: String { name }

        /// Compares the programs.
        public static func == (one: Format, other: Format) -> Bool { one.name == other.name }

        /// Hashes the program.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

/// A format in the list of formats: its description, and how a file in it is recognized and read.
protocol ExportFormat: SendableMetatype {
    static var format: AuthenticatorExport.Format { get }

    /// Recognizes a file by its content; `nil` if it is in another format.
    static func recognize(_ file: ExportFile) throws(ExportError) -> AuthenticatorExport?
}

/// A file that may be an export, decoded once for all formats.
struct ExportFile: Sendable {
    let bytes: [UInt8]
    /// Its text without leading white space; `nil` if it is binary.
    let text: String?
    /// Its content as JSON; `nil` if it is not JSON.
    let json: JSONValue?
    /// Its content as CSV; `nil` if it is not CSV.
    let table: CSVTable?
    /// Whether a file in no known format may be treated as an encrypted backup, which only the password can confirm.
    let isGuessed: Bool
    /// The column of a table with the accounts, if the user named one.
    let column: String?

    init(_ bytes: [UInt8], isGuessed: Bool = false, column: String? = nil) {
        (self.bytes, self.isGuessed, self.column) = (bytes, isGuessed, column)
        text = TextFile.decode(bytes).map { String($0.unicodeScalars.drop { $0.properties.isWhitespace }) }
        let isJSON = ["{", "["].contains(text?.unicodeScalars.first)
        json = isJSON ? text.flatMap { try? JSONValue(repairing: Array($0.utf8)) } : nil
        table = isJSON ? nil : text.flatMap { CSVTable($0, columns: column == nil ? 2 : 1) }
    }
}

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
