// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKKeys
public import YKOATH
public import YKTransport
import YKWire

/// A source of OATH accounts, identified by its first bytes rather than by its name: lines of otpauth URIs, an image
/// with QR codes, a key container (PSKC), or the export of another authenticator.
public struct ImportSource: Sendable {
    /// An account, or why a key cannot hold it.
    public struct Item: Sendable {
        /// Its place in the source.
        public var origin: Origin
        /// The account.
        public var account: Result<NewOATHAccount, ImportFault>
        /// Which part of a Google Authenticator export it is in, if the export has several.
        public var part: MigrationPart?
        /// The names of secret fields that a key cannot store; they remain only in the source.
        public var omitted: [String] = []
        /// The parameters that were ignored although they would change the codes, with the names that the format has for
        /// them.
        public var misnamed: [(name: String, meant: String?)] = []
    }

    /// The place of an account in a source.
    public enum Origin: Sendable, Hashable {
        /// The only entry.
        case whole
        /// One of several lines or QR codes, from 1.
        case entry(Int)
        /// A key of a container, by its id.
        case key(String)
        /// An entry of an export, from 1, with its label, which may be empty.
        case exported(AuthenticatorExport.Format, Int, label: String)
        /// A place in a file of an archive.
        indirect case file(String, Origin)
    }

    /// What a source has beside accounts, or what is uncertain about them.
    public enum Note: Sendable, Hashable {
        /// These files of an archive have no accounts.
        case otherFiles([String])
        /// A QR code of a picture is not an account.
        case otherCode(QRPayload.Kind)
        /// A QR code's text is neither UTF-8 nor UTF-16 and was decoded as this.
        case uncertainText(String)
    }

    /// The content.
    public let bytes: [UInt8]
    private let codes: QRReader
    private let cancellation: Cancellation

    /// Creates a source from its content.
    ///
    /// - Parameters:
    ///   - codes: Reads the QR codes of an image.
    ///   - cancellation: Cancels the derivation of the key of an encrypted file, which can take about 20 seconds.
    public init(_ bytes: [UInt8], codes: QRReader = QRReader(), cancellation: Cancellation = Cancellation()) {
        self.bytes = bytes
        self.codes = codes
        self.cancellation = cancellation
    }

    /// Reads all its accounts.
    ///
    /// - Parameters:
    ///   - guessing: Whether content in an unknown format is treated as an encrypted andOTP backup, see
    ///     ``AuthenticatorExport/recognize(_:guessing:column:)``.
    ///   - column: The name or number of the column with the accounts in a table; ignored for other sources.
    ///   - choosing: Chooses among the columns of a table that may contain the accounts, if `column` is `nil`.
    ///   - unlocking: Returns the key for an encrypted key container; not called for other sources.
    ///   - password: Returns the password of an encrypted export; not called for other sources.
    ///   - noting: Receives what is not among the items.
    /// - Throws: ``ImportError``, or the error of a closure.
    public func items(
        guessing: Bool = false, column: String? = nil,
        choosing: ([AuthenticatorExport.Column]) throws -> AuthenticatorExport.Column? = { _ in nil },
        unlocking: (PSKCProtection) throws -> PSKCUnlocking?, password: (AuthenticatorExport.Format) throws -> Secret,
        noting: (Note) -> Void = { _ in }
    ) throws -> [Item] {
        if let archive = try lifted({ () throws(ExportError) in try AuthenticatorExport.archive(bytes) }) {
            return try items(in: archive, noting, password) { source throws in
                try source.items(column: column, choosing: choosing, unlocking: unlocking, password: password)
            }
        }
        if column == nil, QRReader.isImage(bytes) { return try Self.lines(try images(noting)) }
        if column == nil, PSKC.matches(bytes) { return try container(unlocking) }
        if let export = try lifted({ () throws(ExportError) in
            try AuthenticatorExport.recognize(bytes, guessing: guessing, column: column)
        }) {
            let chosen = export.columns.isEmpty ? nil : try choosing(export.columns)
            return try items(of: export, chosen, password)
        }
        guard let text = TextFile.decode(bytes) else { throw ImportError.unrecognized(FileKind(bytes)) }
        let lines = text.split(whereSeparator: \.isNewline).map { Self.unquoted(String($0).trimmed) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
        // A file without any URI is of another kind, so no error is reported for each of its lines.
        guard lines.isEmpty || lines.contains(where: Self.isURI) else {
            throw ImportError.unrecognized(FileKind(bytes))
        }
        return try Self.lines(lines)
    }

    private static func isURI(_ line: String) -> Bool {
        line.lowercased().hasPrefix("otpauth:") || MigrationPayload.matches(line)
    }

    /// A URI without the quotes or brackets around it.
    private static func unquoted(_ line: String) -> String {
        for (first, last) in [("\"", "\""), ("'", "'"), ("<", ">")] where line.hasPrefix(first) && line.hasSuffix(last)
        {
            let inner = String(line.dropFirst().dropLast())
            return isURI(inner) ? inner : line
        }
        return line
    }

    /// The texts of the QR codes that may be accounts, or of all if none is.
    private func images(_ noting: (Note) -> Void) throws(ImportError) -> [String] {
        let payloads: [QRPayload]
        do { payloads = try codes.payloads(in: bytes) } catch { throw .image(error) }
        let accounts = payloads.filter { [.account, .migration].contains($0.kind) }
        for other in payloads where !accounts.isEmpty && !accounts.contains(other) { noting(.otherCode(other.kind)) }
        return (accounts.isEmpty ? payloads : accounts).map { payload in
            let text = (payload.text ?? String(decoding: payload.bytes, as: UTF8.self)).trimmed
            if !payload.isEncodingCertain, let shown = payload.masked { noting(.uncertainText(shown)) }
            return text
        }
    }

    /// The accounts of all files of an archive. A file that cannot be read is an item that says why, unless the archive
    /// has nothing else.
    private func items(
        in archive: AuthenticatorExport.Archive, _ noting: (Note) -> Void,
        _ password: (AuthenticatorExport.Format) throws -> Secret, read: (ImportSource) throws -> [Item]
    ) throws -> [Item] {
        var items = try archive.encrypted.map { try self.items(of: $0, nil, password) } ?? []
        var failures: [(String, ImportError)] = []
        var others = archive.others
        for file in archive.files {
            do {
                var plain = try lifted { () throws(ExportError) in try archive.contents(of: file) }
                defer { Secret.wipe(&plain) }
                if AuthenticatorExport.isArchive(plain) { throw ImportError.unrecognized(.binary) }
                let found = try read(ImportSource(plain, codes: codes, cancellation: cancellation))
                items += found.map { item in
                    var item = item
                    item.origin = .file(file.name, item.origin)
                    return item
                }
            } catch let error as ImportError {
                switch error {
                case .unrecognized, .empty, .export(.noSuchColumn): others.append(file.name)
                default: failures.append((file.name, error))
                }
            }
        }
        guard !items.isEmpty else {
            throw failures.first?.1 ?? ImportError.export(AuthenticatorExport.Archive.withoutExport)
        }
        if !others.isEmpty { noting(.otherFiles(others)) }
        return items
            + failures.map { Item(origin: .file($0.0, .whole), account: .failure(.unreadableFile($0.1))) }
    }

    private func lifted<Value>(_ body: () throws(ExportError) -> Value) throws(ImportError) -> Value {
        do { return try body() } catch { throw .export(error) }
    }

    private static func lines(_ lines: [String]) throws(ImportError) -> [Item] {
        guard !lines.isEmpty else { throw .empty(nil) }
        let items = lines.enumerated().flatMap { number, line in
            self.items(line, lines.count == 1 ? .whole : .entry(number + 1))
        }
        guard !items.isEmpty else { throw .empty(nil) }
        return items
    }

    private static func items(_ line: String, _ origin: Origin) -> [Item] {
        guard MigrationPayload.matches(line) else {
            do {
                var item = Item(origin: origin, account: .success(try OtpauthURI.parse(line)))
                item.misnamed = OtpauthURI.misnamedParameters(of: line)
                return [item]
            } catch {
                return [Item(origin: origin, account: .failure(.uri(error)))]
            }
        }
        do {
            let payload = try MigrationPayload(parsing: line)
            let accounts = payload.accounts.map { Result<NewOATHAccount, ImportFault>.success($0) }
            return (accounts + payload.unusable.map { .failure(.migration($0)) }).map {
                Item(origin: origin, account: $0, part: payload.part)
            }
        } catch { return [Item(origin: origin, account: .failure(.migration(error)))] }
    }

    private func items(
        of export: AuthenticatorExport, _ column: AuthenticatorExport.Column?,
        _ password: (AuthenticatorExport.Format) throws -> Secret
    ) throws -> [Item] {
        let secret = export.needsPassword ? SharedSecret(try password(export.format)) : nil
        let entries = try lifted { () throws(ExportError) in
            try export.entries(password: secret, column: column, cancellation: cancellation)
        }
        guard !entries.isEmpty else { throw ImportError.empty(export.format) }
        return entries.enumerated().map { number, entry in
            Item(
                origin: .exported(export.format, number + 1, label: entry.label),
                account: entry.account.mapError { .exported($0) }, omitted: entry.omitted)
        }
    }

    private func container(_ unlocking: (PSKCProtection) throws -> PSKCUnlocking?) throws -> [Item] {
        do {
            let key = try unlocking(try PSKC.protection(of: bytes))
            return try PSKC(parsing: bytes, unlocking: key, cancellation: cancellation).keys.map { key in
                Item(origin: .key(key.id), account: key.account.mapError { .container($0) })
            }
        } catch let error as PSKCError {
            throw ImportError.container(error)
        }
    }
}

/// Why a source of accounts could not be read.
public enum ImportError: Error, Hashable, Sendable {
    /// It is neither text with URIs, an image, a key container, nor an export in a known format.
    case unrecognized(FileKind)
    /// It contains no account; with the format, if it is an export.
    case empty(AuthenticatorExport.Format?)
    /// No QR code of an image could be read.
    case image(QRError)
    /// A key container could not be read or decrypted.
    case container(PSKCError)
    /// An export of another authenticator could not be read or decrypted.
    case export(ExportError)
}

/// Why one account of a source cannot be used.
public enum ImportFault: Error, Hashable, Sendable {
    /// The line or QR code is not an `otpauth://` URI.
    case uri(OtpauthError)
    /// The account of an `otpauth-migration://` export cannot be used.
    case migration(MigrationError)
    /// The key of a container cannot be used.
    case container(PSKCError)
    /// A key cannot hold the account of an export.
    case exported(OtpauthError)
    /// A file of an archive could not be read, and with it none of its accounts.
    indirect case unreadableFile(ImportError)
}
