// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKOATH
import YKWire

/// The unparsed fields of one account of an export. Absent fields have their default value.
struct ExportFields {
    var type = "totp"
    var issuer: String?
    var name: String?
    var secret: Secrecy
    var algorithm: String?
    var digits: JSONValue?
    var period: JSONValue?
    var counter: JSONValue?

    /// How the secret is encoded.
    enum Secrecy {
        case base32(String?)
        /// As bytes; `nil` if their encoding is not the format's.
        case bytes([UInt8]?)
    }

    /// The account, or the first field that a key does not support.
    var entry: AuthenticatorExport.Entry { entry(omitting: []) }

    /// The account, or the first field that a key does not support, with the fields that a key cannot store.
    func entry(omitting omitted: [String]) -> AuthenticatorExport.Entry {
        let label = [issuer, name].compactMap { $0.flatMap { $0.isEmpty ? nil : $0 } }.joined(separator: ":")
        do { return .init(label: label, account: .success(try account()), omitted: omitted) } catch {
            return .init(label: label, account: .failure(error))
        }
    }

    private func account() throws(OtpauthError) -> NewOATHAccount {
        let (type, isSteam) = try kind()
        let label = AccountLabel(issuer: issuer?.trimmed, name: name?.trimmed, isSteam: isSteam)
        try label.check()
        let period = type == .totp ? try number(.period, period, in: 1...Int64(Int32.max)) ?? 30 : 30
        let counter = type == .hotp ? try number(.counter, counter, in: 0...Int64(UInt32.max)) ?? 0 : 0
        let digits = isSteam ? 6 : try number(.digits, digits, in: 6...8) ?? 6
        return NewOATHAccount(
            id: OATHAccountID(issuer: label.issuer, name: label.name, period: .seconds(period), type: type),
            secret: try key(), algorithm: try hash(isSteam), digits: Int(digits),
            counter: UInt32(truncatingIfNeeded: counter))
    }

    private func kind() throws(OtpauthError) -> (OATHType, isSteam: Bool) {
        switch type.lowercased() {
        case "totp": (.totp, false)
        case "hotp": (.hotp, false)
        case "steam": (.totp, true)
        default: throw OtpauthError(.type, .notUnderstood(Quotable.name(type)))
        }
    }

    private func hash(_ isSteam: Bool) throws(OtpauthError) -> OATHAlgorithm {
        guard let algorithm, !algorithm.isEmpty, !isSteam else { return .sha1 }
        guard let known = OATHAlgorithm(name: algorithm) else {
            throw OtpauthError(.algorithm, .notUnderstood(Quotable.name(algorithm)))
        }
        return known
    }

    private func key() throws(OtpauthError) -> Secret {
        var bytes: [UInt8]
        switch secret {
        case .base32(nil): throw OtpauthError(.secret, .missing)
        case .bytes(nil): throw OtpauthError(.secret, .notUnderstood(nil))
        case .bytes(let found?): bytes = found
        case .base32(let text?):
            // As most authenticators do, which may have stored secrets of any length.
            guard let decoded = try? Base32.decode(text, droppingRest: true) else {
                throw OtpauthError(.secret, .badBase32)
            }
            bytes = decoded
        }
        defer { Secret.wipe(&bytes) }
        if bytes.isEmpty { throw OtpauthError(.secret, .empty) }
        return Secret(bytes)
    }

    /// A number, also when written as a string; absent for `null` and an empty string.
    private func number(
        _ field: OtpauthError.Field, _ value: JSONValue?, in range: ClosedRange<Int64>
    ) throws(OtpauthError) -> Int64? {
        let (found, shown): (Int64?, String?)
        switch value {
        case nil, .null?, .string("")?: return nil
        case .int(let number)?: (found, shown) = (number, "\(number)")
        case .double(let number)?: (found, shown) = (Int64(exactly: number), "\(number)")
        case .string(let text)?: (found, shown) = (Int64(text), Quotable.number(text))
        default: throw OtpauthError(field, .notUnderstood("another type"))
        }
        guard let found, range.contains(found) else { throw OtpauthError(field, .outOfRange(shown, range)) }
        return found
    }

    /// An account as password managers store it: an `otpauth://` URI, a secret prefixed with `steam://`, KeePassXC's
    /// old `key=…&step=…&size=…`, or a bare secret. Title and user name replace a missing name.
    static func entry(code: String, title: String?, user: String?) -> AuthenticatorExport.Entry {
        let label = [title, user].compactMap { $0.flatMap { $0.isEmpty ? nil : $0 } }.joined(separator: ":")
        let code = code.trimmed
        let lower = code.lowercased()
        if lower.hasPrefix("otpauth://") {
            do {
                let account = try OtpauthURI.parse(code, title: title, user: user)
                return .init(label: account.id.text, account: .success(account))
            } catch {
                return .init(label: label, account: .failure(error))
            }
        }
        // A title equal to the user name is not an issuer.
        let issuer = title == user || user?.isEmpty != false ? nil : title
        let name = user?.isEmpty == false ? user : title
        if lower.hasPrefix("steam://") {
            let secret = String(code.dropFirst("steam://".count))
            return ExportFields(type: "steam", issuer: "Steam", name: name, secret: .base32(secret)).entry
        }
        if lower.hasPrefix("key=") {
            var values: [String: String] = [:]
            for pair in code.split(separator: "&") {
                let halves = pair.halves(at: "=")
                if halves.count == 2 { values[halves[0].lowercased()] = String(halves[1]) }
            }
            return ExportFields(
                issuer: issuer, name: name, secret: .base32(values["key"].flatMap { PercentEncoding.decode($0) }),
                algorithm: values["otphashmode"] ?? values["algorithm"], digits: values["size"].map { .string($0) },
                period: values["step"].map { .string($0) }
            ).entry
        }
        return ExportFields(issuer: issuer, name: name, secret: .base32(code)).entry
    }
}

extension JSONValue {
    /// The string value of a member; `nil` if it is absent or not a string.
    func text(_ name: String) -> String? { self[name]?.string }

    /// Parses decrypted JSON and wipes it; invalid JSON means that the key is wrong or the file damaged.
    init(decrypted bytes: consuming [UInt8], _ format: AuthenticatorExport.Format) throws(ExportError) {
        defer { Secret.wipe(&bytes) }
        guard let json = try? JSONValue(repairing: copy bytes) else {
            throw .malformed(format, "the decrypted text is not JSON")
        }
        self = json
    }
}

extension AuthenticatorExport.Format {
    /// Decrypts AES-256-GCM; `sealed` is the ciphertext followed by the tag.
    func open(
        _ sealed: [UInt8], key: borrowing Secret, nonce: [UInt8], context: [UInt8] = []
    ) throws(ExportError) -> [UInt8] {
        guard nonce.count == AESGCM.nonceSize, sealed.count >= AESGCM.tagSize else {
            throw .malformed(self, "the encrypted part")
        }
        guard let plain = try? AESGCM.decrypt(sealed, key: key, nonce: nonce, context: context) else {
            throw .wrongPassword(self)
        }
        return plain
    }

    /// Decrypts AES-CBC and removes the PKCS#7 padding.
    func openCBC(_ sealed: [UInt8], key: borrowing Secret, vector: [UInt8]) throws(ExportError) -> [UInt8] {
        guard !sealed.isEmpty, sealed.count % AESCBC.blockSize == 0, vector.count == AESCBC.blockSize else {
            throw .malformed(self, "the encrypted part")
        }
        guard let plain = try? AESCBC.decrypt(sealed, key: key, initialisationVector: vector),
            let pad = plain.last, (1...AESCBC.blockSize).contains(Int(pad)),
            plain.suffix(Int(pad)).allSatisfy({ $0 == pad })
        else { throw .wrongPassword(self) }
        return Array(plain.dropLast(Int(pad)))
    }

    /// Decodes the base64 of a member.
    func base64(_ json: JSONValue?, _ name: String) throws(ExportError) -> [UInt8] {
        guard let text = json?.text(name), let bytes = try? Base64.decode(text) else { throw .malformed(self, name) }
        return bytes
    }

    /// Decodes the hexadecimal of a member.
    func hex(_ json: JSONValue?, _ name: String) throws(ExportError) -> [UInt8] {
        guard let text = json?.text(name), let bytes = try? Hex.decode(text) else { throw .malformed(self, name) }
        return bytes
    }
}
