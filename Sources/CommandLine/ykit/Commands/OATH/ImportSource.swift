// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKOATH
import YKWire

/// A source of accounts, identified by its first bytes rather than by its name.
struct ImportSource {
    /// An account, or why it is invalid.
    struct Item {
        var origin: String
        var account: Result<NewOATHAccount, Explanation>
    }

    let name: String
    let bytes: [UInt8]

    /// Reads all its accounts. `password` asks for the password of the item named in the question.
    func items(
        unlocking: (PSKCProtection) throws -> PSKCUnlocking?, password: (_ question: String) throws -> Secret
    ) throws -> [Item] {
        if QRImage.matches(bytes) { return try Self.lines(QRImage.texts(in: bytes, name), origin: name) }
        if PSKC.matches(bytes) { return try container(unlocking) }
        do {
            if let export = try AuthenticatorExport.recognize(bytes) { return try items(of: export, password) }
        } catch let error as ExportError {
            throw Explain.export(error, name)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Explain.malformed(
                "\(name) is neither a text with otpauth URIs, nor a PNG or JPEG image, nor a key container, nor the "
                    + "export of another authenticator")
        }
        let lines = text.split(whereSeparator: \.isNewline).map { String($0).trimmed }
        return try Self.lines(lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }, origin: name)
    }

    private static func lines(_ lines: [String], origin: String) throws -> [Item] {
        guard !lines.isEmpty else { throw Explain.malformed("\(origin) holds no account") }
        return lines.enumerated().flatMap { number, line in
            self.items(line, origin: lines.count == 1 ? origin : "\(origin), entry \(number + 1)")
        }
    }

    private static func items(_ line: String, origin: String) -> [Item] {
        if MigrationPayload.matches(line) {
            do {
                let payload = try MigrationPayload(parsing: line)
                return payload.accounts.map { Item(origin: origin, account: .success($0)) }
                    + payload.unusable.map {
                        Item(origin: origin, account: .failure(Explain.oath(.invalidMigration($0))))
                    }
            } catch {
                return [Item(origin: origin, account: .failure(Explain.oath(.invalidMigration(error))))]
            }
        }
        do { return [Item(origin: origin, account: .success(try OtpauthURI.parse(line)))] } catch {
            return [Item(origin: origin, account: .failure(Explain.oath(.invalidURI(error))))]
        }
    }

    private func items(of export: AuthenticatorExport, _ password: (String) throws -> Secret) throws -> [Item] {
        let secret =
            export.needsPassword
            ? SharedSecret(try password("password of the \(export.format.rawValue) export \(name.printable)")) : nil
        let entries = try export.entries(password: secret)
        guard !entries.isEmpty else {
            throw Explain.malformed("\(name), an export of \(export.format.rawValue), holds no account")
        }
        return entries.enumerated().map { number, entry in
            let label = entry.label.isEmpty ? "entry \(number + 1)" : "'\(entry.label.printable)'"
            return Item(
                origin: "\(export.format.rawValue) export \(name), \(label)",
                account: entry.account.mapError { Explain.exported($0) })
        }
    }

    private func container(_ unlocking: (PSKCProtection) throws -> PSKCUnlocking?) throws -> [Item] {
        do {
            let key = try unlocking(try PSKC.protection(of: bytes))
            return try PSKC(parsing: bytes, unlocking: key).keys.map { key in
                Item(origin: "\(name), key \(key.id.printable)", account: key.account.mapError { Explain.pskc($0) })
            }
        } catch let error as PSKCError {
            throw Explain.pskc(error)
        }
    }
}
