// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// An export in a ZIP archive: Raivo's, which a password encrypts, Bitwarden's with the attachments of its items, or
/// any other. The content decides which.
enum ZippedExport {
    /// Maximum number of files in an archive that are tried.
    private static let tries = 8

    /// Recognises the export in an archive.
    ///
    /// - Throws: `.unreadable` if no file of the archive is an export, `.damagedArchive`, or what is wrong with the
    ///   export in it.
    static func recognize(_ bytes: [UInt8], column: String?) throws(ExportError) -> AuthenticatorExport {
        let archive = try ZipArchive(bytes)
        let candidates = archive.files.filter { file in
            [".json", ".csv", ".txt"].contains { file.name.lowercased().hasSuffix($0) }
        }
        // Attachments are in folders.
        let sorted = candidates.filter { !$0.name.contains("/") } + candidates.filter { $0.name.contains("/") }
        for file in sorted.prefix(tries) {
            if file.isEncrypted { return encrypted(archive, file) }
            let plain = try archive.contents(of: file, password: nil)
            if let export = try ExportFormats.recognize(ExportFile(plain, column: column)) { return export }
        }
        throw .unreadable(
            "ZIP archive without a known export", "unpack it and import the export in it, if there is one")
    }

    /// Only Raivo encrypts archives; a plain export of any other program may be in one as well.
    private static func encrypted(_ archive: ZipArchive, _ file: ZipArchive.File) -> AuthenticatorExport {
        AuthenticatorExport(encrypted: .raivo) { unlocking throws(ExportError) in
            var plain = try archive.contents(of: file, password: unlocking)
            defer { Secret.wipe(&plain) }
            guard let export = try ExportFormats.recognize(ExportFile(plain)), !export.needsPassword else {
                throw .malformed(.raivo, "accounts")
            }
            return try export.entries()
        }
    }
}
