// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKOATH
public import YKTransport

/// An export or backup of another authenticator app or password manager, recognized by its content.
public struct AuthenticatorExport: Sendable {
    /// One account, or why a key cannot hold it.
    public struct Entry: Sendable {
        /// Issuer and name as in the export, for messages; never the secret.
        public let label: String
        /// The account, or the field that a key does not support.
        public let account: Result<NewOATHAccount, OtpauthError>
        /// The names of the fields with secrets that a key cannot store, such as the one that confirms trades.
        public var omitted: [String] = []
    }

    /// A column of a table.
    public struct Column: Hashable, Sendable {
        /// What a column contains.
        public enum Content: Hashable, Sendable {
            /// At least one is an `otpauth://` or `steam://` URI.
            case uris
            /// All are secrets in base 32.
            case secrets
            /// Anything else.
            case other
        }

        /// Its name in the header; empty without one.
        public let name: String
        /// Its number, from 1.
        public let number: Int
        /// What it contains.
        public let content: Content
        /// The number of rows that have text in it.
        public let count: Int

        /// Its name in quotation marks, or its number if it has none.
        package var title: String { name.isEmpty ? "column \(number)" : "'\(name)'" }

        /// What it contains, counted.
        package var contents: String {
            let noun =
                switch content {
                case .uris: "otpauth URI"
                case .secrets: "secret"
                case .other: "text"
                }
            return "\(count) \(noun)" + (count == 1 ? "" : "s")
        }
    }

    /// Its format.
    public let format: Format
    /// Whether reading it requires a password.
    public let needsPassword: Bool
    /// The columns of a table that may contain the accounts, one of which must be chosen; empty for any other export.
    public let columns: [Column]
    private let read: @Sendable (ExportUnlocking, Column?) throws(ExportError) -> [Entry]

    /// An export that is not encrypted.
    init(_ format: Format, read: @escaping @Sendable () throws(ExportError) -> [Entry]) {
        self.format = format
        (needsPassword, columns) = (false, [])
        self.read = { _, _ throws(ExportError) in try read() }
    }

    /// An export that is encrypted under a password.
    init(encrypted format: Format, read: @escaping @Sendable (ExportUnlocking) throws(ExportError) -> [Entry]) {
        self.format = format
        (needsPassword, columns) = (true, [])
        self.read = { unlocking, _ throws(ExportError) in try read(unlocking) }
    }

    /// A table whose accounts are in one of these columns.
    init(_ format: Format, columns: [Column], read: @escaping @Sendable (Column) -> [Entry]) {
        self.format = format
        (needsPassword, self.columns) = (false, columns)
        self.read = { _, column throws(ExportError) in
            guard let column else { throw .needsColumn(columns) }
            return read(column)
        }
    }

    /// Maximum size of an export in bytes.
    public static let byteLimit = 16 << 20
    /// Maximum number of accounts in an export; a key holds at most 64.
    public static let entryLimit = 1 << 14

    /// The formats that ``recognize(_:guessing:column:)`` knows, in the order in which they are tried.
    public static var formats: [Format] { ExportFormats.all.map { $0.format } }

    /// Recognizes an export.
    ///
    /// - Parameters:
    ///   - bytes: The whole file, text in any of the encodings that editors write.
    ///   - guessing: Whether bytes in no known format are treated as an encrypted backup of andOTP before 0.6.3, which
    ///     nothing identifies; only the password then decides.
    ///   - column: The name or number of the column with the accounts, if the file is a table. It is then read as a
    ///     table, whatever program wrote it.
    /// - Returns: The export; `nil` if the bytes are in no known format, or more than ``byteLimit``.
    /// - Throws: ``ExportError/unreadable(_:_:)`` for a known format that cannot be read, such as a KeePass database or a ZIP
    ///   archive with several exports (see ``archive(_:)``),
    ///   ``ExportError/malformed(_:_:)`` for a damaged export, and ``ExportError/noSuchColumn(_:_:)``.
    public static func recognize(
        _ bytes: [UInt8], guessing: Bool = false, column: String? = nil
    ) throws(ExportError) -> AuthenticatorExport? {
        guard bytes.count <= byteLimit else { return nil }
        if bytes.starts(with: [0x03, 0xD9, 0xA2, 0x9A]) {
            throw .unreadable("KeePass database", "export its entries from KeePassXC as CSV, and import that file")
        }
        if bytes.starts(with: Array("SQLite format 3".utf8)) {
            throw .unreadable("SQLite database", "use the program's own export instead of its database")
        }
        if let archive = try archive(bytes) { return try archive.only(column: column) }
        return try ExportFormats.recognize(ExportFile(bytes, isGuessed: guessing, column: column))
    }

    /// Reads every account, in the order of the file.
    ///
    /// - Parameters:
    ///   - password: The password; ignored unless ``needsPassword``.
    ///   - column: The column with the accounts, one of ``columns``; ignored if there are none.
    ///   - cancellation: Ends the derivation of a key, which takes up to about 20 seconds.
    /// - Returns: The accounts, including those that a key cannot hold, with the reason.
    /// - Throws: ``ExportError``.
    public func entries(
        password: SharedSecret? = nil, column: Column? = nil, cancellation: Cancellation = Cancellation()
    ) throws(ExportError) -> [Entry] {
        if needsPassword, password == nil { throw .needsPassword(format) }
        let entries = try read(
            ExportUnlocking(password: password ?? SharedSecret(Secret([])), cancellation: cancellation), column)
        guard entries.count <= Self.entryLimit else {
            throw .malformed(format, "it has more than \(Self.entryLimit) accounts")
        }
        return entries
    }
}

/// Why an export cannot be read.
public enum ExportError: Error, Hashable, Sendable {
    /// The export is malformed: the field, or what is wrong.
    case malformed(AuthenticatorExport.Format, String)
    /// An archive cannot be read: what is wrong with it.
    case damagedArchive(String)
    /// A known kind of file that is not supported, and what to do instead.
    case unreadable(String, String)
    /// It is a table, and none of these columns was chosen.
    case needsColumn([AuthenticatorExport.Column])
    /// It has no column with that name or number; these columns may contain the accounts.
    case noSuchColumn(String, [AuthenticatorExport.Column])
    /// It is encrypted and no password was given.
    case needsPassword(AuthenticatorExport.Format)
    /// The password is wrong, or the file was modified.
    case wrongPassword(AuthenticatorExport.Format)
    /// The file's key derivations together would need more than 1 GiB of memory or more than about 20 seconds.
    case tooExpensive(AuthenticatorExport.Format)
    /// The operation was cancelled.
    case cancelled
    /// The library that derives the key is not installed.
    case missingLibrary(AuthenticatorExport.Format, String)
}
