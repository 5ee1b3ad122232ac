// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// An export or backup of another authenticator app or password manager, recognised by its content.
public struct AuthenticatorExport: Sendable {
    /// The program that wrote it.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        case aegis = "Aegis"
        case twoFAS = "2FAS"
        case andOTP = "andOTP"
        case ente = "Ente Auth"
        case bitwarden = "Bitwarden"
        case keePassXC = "KeePassXC"
        case raivo = "Raivo OTP"
        case freeOTPPlus = "FreeOTP+"
        case proton = "Proton Authenticator"
        case stratum = "Stratum"
    }

    /// One account, or why a key cannot hold it.
    public struct Entry: Sendable {
        /// Issuer and name as in the export, for messages; never the secret.
        public let label: String
        /// The account, or the field that a key does not support.
        public let account: Result<NewOATHAccount, OtpauthError>
    }

    /// The program that wrote it.
    public let format: Format
    /// Whether reading it requires a password.
    public let needsPassword: Bool
    private let read: @Sendable (SharedSecret?) throws(ExportError) -> [Entry]

    init(
        _ format: Format, needsPassword: Bool = false,
        read: @escaping @Sendable (SharedSecret?) throws(ExportError) -> [Entry]
    ) {
        self.format = format
        self.needsPassword = needsPassword
        self.read = read
    }

    /// Maximum size of an export in bytes.
    public static let byteLimit = 16 << 20

    /// Recognises an export.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The export; `nil` if the bytes are in no known format, or more than ``byteLimit``.
    /// - Throws: ``ExportError/unreadable(_:_:)`` for a known format that cannot be read, such as a KeePass database,
    ///   and ``ExportError/malformed(_:_:)`` for a damaged export.
    public static func recognize(_ bytes: [UInt8]) throws(ExportError) -> AuthenticatorExport? {
        guard bytes.count <= byteLimit else { return nil }
        if bytes.starts(with: [0x03, 0xD9, 0xA2, 0x9A]) {
            throw .unreadable("KeePass database", "export its entries from KeePassXC as CSV, and import that file")
        }
        if bytes.starts(with: [0xAC, 0xED, 0x00, 0x05]) {
            throw .unreadable("FreeOTP 2 backup", "import it into FreeOTP+ and export it from there as JSON")
        }
        if bytes.starts(with: Array("SQLite format 3".utf8)) {
            throw .unreadable("SQLite database", "use the program's own export instead of its database")
        }
        if let archive = try RaivoExport.archive(bytes) { return archive }
        if let backup = StratumExport.encrypted(bytes) { return backup }
        guard let text = String(validating: bytes, as: UTF8.self) else { return AndOTPExport.encrypted(bytes) }
        let start = text.unicodeScalars.drop { $0 == "\u{FEFF}" || $0.properties.isWhitespace }
        switch start.first {
        case "{", "[":
            guard let json = try? JSONValue(parsing: String(start)) else { return nil }
            return try recognize(json)
        default:
            return KeePassXCExport.recognize(String(start)) ?? BitwardenExport.csv(String(start))
        }
    }

    private static func recognize(_ json: JSONValue) throws(ExportError) -> AuthenticatorExport? {
        if let export = try AegisExport.recognize(json) { return export }
        if let export = try TwoFASExport.recognize(json) { return export }
        if let export = try EnteExport.recognize(json) { return export }
        if let export = try BitwardenExport.recognize(json) { return export }
        if let export = try StratumExport.recognize(json) { return export }
        if let export = try FreeOTPPlusExport.recognize(json) { return export }
        if let export = try ProtonExport.recognize(json) { return export }
        if let export = try RaivoExport.recognize(json) { return export }
        return try AndOTPExport.recognize(json)
    }

    /// Reads every account, in the order of the file.
    ///
    /// - Parameter password: The password; ignored unless ``needsPassword``.
    /// - Returns: The accounts, including those that a key cannot hold, with the reason.
    /// - Throws: ``ExportError``.
    public func entries(password: SharedSecret? = nil) throws(ExportError) -> [Entry] {
        if needsPassword, password == nil { throw .needsPassword(format) }
        return try read(password)
    }
}

/// Why an export cannot be read.
public enum ExportError: Error, Hashable, Sendable {
    /// The export is malformed: the field, or what is wrong.
    case malformed(AuthenticatorExport.Format, String)
    /// A known kind of file that is not supported, and what to do instead.
    case unreadable(String, String)
    /// It is encrypted and no password was given.
    case needsPassword(AuthenticatorExport.Format)
    /// The password is wrong, or the file was modified.
    case wrongPassword(AuthenticatorExport.Format)
    /// The file's key derivation would need more than 1 GiB of memory or run for minutes.
    case tooExpensive(AuthenticatorExport.Format)
    /// The library that derives the key is not installed.
    case missingLibrary(AuthenticatorExport.Format, String)
}
