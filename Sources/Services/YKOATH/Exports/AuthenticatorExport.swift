// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// What another authenticator wrote when its user asked for an export or a backup, recognised by its content.
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

    /// One account, or why it cannot be one on a key.
    public struct Entry: Sendable {
        /// Issuer and name as the export has them, for messages; never the secret.
        public let label: String
        /// The account, or the field that a key cannot hold.
        public let account: Result<NewOATHAccount, OtpauthError>
    }

    /// The program that wrote it.
    public let format: Format
    /// Whether a password is needed to read it.
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

    /// The most bytes of an export that are read.
    public static let byteLimit = 16 << 20

    /// Recognises an export.
    ///
    /// - Parameter bytes: The whole file.
    /// - Returns: The export; `nil` when the bytes are no export known here, or more than ``byteLimit``.
    /// - Throws: ``ExportError/unreadable(_:_:)`` for one that is known but cannot be read, such as a KeePass database,
    ///   and ``ExportError/malformed(_:_:)`` for one that is damaged.
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
            guard let json = try? JSON(parsing: String(start)) else { return nil }
            return try recognize(json)
        default:
            return KeePassXCExport.recognize(String(start)) ?? BitwardenExport.csv(String(start))
        }
    }

    private static func recognize(_ json: JSON) throws(ExportError) -> AuthenticatorExport? {
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
    /// - Parameter password: The password; only looked at when ``needsPassword``.
    /// - Returns: The accounts, those that a key cannot hold among them with the reason.
    /// - Throws: ``ExportError``.
    public func entries(password: SharedSecret? = nil) throws(ExportError) -> [Entry] {
        if needsPassword, password == nil { throw .needsPassword(format) }
        return try read(password)
    }
}

/// Why an export cannot be read.
public enum ExportError: Error, Hashable, Sendable {
    /// It is not built as the program builds it: the field, or what is wrong.
    case malformed(AuthenticatorExport.Format, String)
    /// A kind of file that is known, but not read here, and what to do instead.
    case unreadable(String, String)
    /// It is encrypted and no password was given.
    case needsPassword(AuthenticatorExport.Format)
    /// The password is not the one, or the file was changed.
    case wrongPassword(AuthenticatorExport.Format)
    /// The key derivation that the file asks for takes more than 1 GiB or minutes.
    case tooExpensive(AuthenticatorExport.Format)
    /// The library that derives the key is not on this machine.
    case missingLibrary(AuthenticatorExport.Format, String)
}
