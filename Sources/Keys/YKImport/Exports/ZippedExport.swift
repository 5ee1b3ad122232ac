// SPDX-License-Identifier: Apache-2.0

import YKCrypto

extension AuthenticatorExport {
    /// A ZIP archive with exports: Raivo's, which a password encrypts, Bitwarden's with the attachments of its items, or
    /// any others. The content of its files decides which.
    public struct Archive: Sendable {
        /// A file that may be an export, not encrypted.
        public struct File: Sendable {
            /// Its name in the archive.
            public let name: String
            fileprivate let entry: ZipArchive.File
        }

        /// The files that may be exports, those outside folders first, since attachments are in folders.
        public let files: [File]
        /// The encrypted files, which are Raivo's.
        public let encrypted: AuthenticatorExport?
        /// The names of the other files.
        public let others: [String]
        private let archive: ZipArchive

        /// Maximum number of files that are tried.
        private static let tries = 64
        private static let endings = [".json", ".csv", ".txt", ".2fas", ".authpro", ".mafile", ".xml", ".bin", ".uri"]

        init(_ bytes: [UInt8]) throws(ExportError) {
            let archive = try ZipArchive(bytes)
            let content = archive.files.filter { !$0.name.hasSuffix("/") }
            let sorted = content.filter { !$0.name.contains("/") } + content.filter { $0.name.contains("/") }
            let named = sorted.filter { file in Self.endings.contains { file.name.lowercased().hasSuffix($0) } }
            let tried = named.prefix(Self.tries)
            let sealed = tried.filter(\.isEncrypted)
            self.archive = archive
            files = tried.filter { !$0.isEncrypted }.map { File(name: $0.name, entry: $0) }
            encrypted = sealed.isEmpty ? nil : Self.raivo(archive, sealed)
            let names = Set(tried.map(\.name))
            others = sorted.map(\.name).filter { !names.contains($0) }
        }

        /// The content of a file.
        ///
        /// - Throws: ``ExportError/damagedArchive(_:)``, or ``ExportError/unreadable(_:_:)`` for a compression that is not
        ///   supported.
        public func contents(of file: File) throws(ExportError) -> [UInt8] {
            try archive.contents(of: file.entry, password: nil)
        }

        /// Why the archive has no export.
        public static let withoutExport = ExportError.unreadable(
            "ZIP archive without a known export", "unpack it and import the export in it, if there is one")

        /// The only export in the archive.
        ///
        /// - Throws: `.unreadable` if it has none or several, `.damagedArchive`, or what is wrong with the export in it.
        func only(column: String?) throws(ExportError) -> AuthenticatorExport {
            var found: [AuthenticatorExport] = [encrypted].compactMap { $0 }
            for file in files {
                let plain = try contents(of: file)
                if let export = try ExportFormats.recognize(ExportFile(plain, column: column)) { found.append(export) }
            }
            guard let only = found.first else { throw Self.withoutExport }
            guard found.count == 1 else {
                throw .unreadable("ZIP archive with \(found.count) exports", "unpack it and import each of them")
            }
            return only
        }

        /// Only Raivo encrypts archives; a plain export of any other program may be in one as well.
        private static func raivo(_ archive: ZipArchive, _ files: [ZipArchive.File]) -> AuthenticatorExport {
            AuthenticatorExport(encrypted: .raivo) { unlocking throws(ExportError) in
                var (entries, isKnown): ([Entry], Bool) = ([], false)
                for file in files {
                    var plain = try archive.contents(of: file, password: unlocking)
                    defer { Secret.wipe(&plain) }
                    guard let export = try ExportFormats.recognize(ExportFile(plain)), !export.needsPassword else {
                        continue
                    }
                    entries += try export.entries()
                    isKnown = true
                }
                guard isKnown else { throw .malformed(.raivo, "accounts") }
                return entries
            }
        }
    }

    /// Whether a file is a ZIP archive.
    public static func isArchive(_ bytes: [UInt8]) -> Bool { ZipArchive.matches(bytes) }

    /// Opens a ZIP archive, which may have several exports; `nil` for any other file.
    ///
    /// - Throws: ``ExportError/damagedArchive(_:)``.
    public static func archive(_ bytes: [UInt8]) throws(ExportError) -> Archive? {
        guard bytes.count <= byteLimit, ZipArchive.matches(bytes) else { return nil }
        return try Archive(bytes)
    }
}
