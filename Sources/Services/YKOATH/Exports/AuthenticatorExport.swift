// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire

/// An export or backup of another authenticator app or password manager, recognised by its content.
public struct AuthenticatorExport: Sendable {
    /// One account, or why a key cannot hold it.
    public struct Entry: Sendable {
        /// Issuer and name as in the export, for messages; never the secret.
        public let label: String
        /// The account, or the field that a key does not support.
        public let account: Result<NewOATHAccount, OtpauthError>
        /// The names of the fields with secrets for which a key has no place, such as what confirms trades.
        public var omitted: [String] = []
    }

    /// The format it is in.
    public let format: Format
    /// Whether reading it requires a password.
    public let needsPassword: Bool
    private let read: @Sendable (ExportUnlocking) throws(ExportError) -> [Entry]

    /// An export that is not encrypted.
    init(_ format: Format, read: @escaping @Sendable () throws(ExportError) -> [Entry]) {
        self.format = format
        needsPassword = false
        self.read = { _ throws(ExportError) in try read() }
    }

    /// An export that is encrypted under a password.
    init(encrypted format: Format, read: @escaping @Sendable (ExportUnlocking) throws(ExportError) -> [Entry]) {
        self.format = format
        needsPassword = true
        self.read = read
    }

    /// Maximum size of an export in bytes.
    public static let byteLimit = 16 << 20

    /// The formats that ``recognize(_:guessing:)`` knows, in the order in which they are tried.
    public static var formats: [Format] { ExportFormats.all.map { $0.format } }

    /// Recognises an export.
    ///
    /// - Parameters:
    ///   - bytes: The whole file, text in any of the encodings that editors write.
    ///   - guessing: Whether bytes that are in no known format are taken for an encrypted backup of andOTP before 0.6.3,
    ///     which has no mark of its own; only the password then decides.
    /// - Returns: The export; `nil` if the bytes are in no known format, or more than ``byteLimit``.
    /// - Throws: ``ExportError/unreadable(_:_:)`` for a known format that cannot be read, such as a KeePass database,
    ///   and ``ExportError/malformed(_:_:)`` for a damaged export.
    public static func recognize(
        _ bytes: [UInt8], guessing: Bool = false
    ) throws(ExportError) -> AuthenticatorExport? {
        guard bytes.count <= byteLimit else { return nil }
        if bytes.starts(with: [0x03, 0xD9, 0xA2, 0x9A]) {
            throw .unreadable("KeePass database", "export its entries from KeePassXC as CSV, and import that file")
        }
        if bytes.starts(with: Array("SQLite format 3".utf8)) {
            throw .unreadable("SQLite database", "use the program's own export instead of its database")
        }
        if ZipArchive.matches(bytes) { return try ZippedExport.recognize(bytes) }
        return try ExportFormats.recognize(ExportFile(bytes, isGuessed: guessing))
    }

    /// Reads every account, in the order of the file.
    ///
    /// - Parameters:
    ///   - password: The password; ignored unless ``needsPassword``.
    ///   - cancellation: Ends the derivation of a key, which takes up to some 20 seconds.
    /// - Returns: The accounts, including those that a key cannot hold, with the reason.
    /// - Throws: ``ExportError``.
    public func entries(
        password: SharedSecret? = nil, cancellation: Cancellation = Cancellation()
    ) throws(ExportError) -> [Entry] {
        if needsPassword, password == nil { throw .needsPassword(format) }
        return try read(
            ExportUnlocking(password: password ?? SharedSecret(Secret([])), cancellation: cancellation))
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
    /// It is encrypted and no password was given.
    case needsPassword(AuthenticatorExport.Format)
    /// The password is wrong, or the file was modified.
    case wrongPassword(AuthenticatorExport.Format)
    /// The file's key derivations together would need more than 1 GiB of memory or more than some 20 seconds.
    case tooExpensive(AuthenticatorExport.Format)
    /// The operation was cancelled.
    case cancelled
    /// The library that derives the key is not installed.
    case missingLibrary(AuthenticatorExport.Format, String)
}
