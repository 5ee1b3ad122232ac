// SPDX-License-Identifier: Apache-2.0

public import YKAge
import YKCrypto
import YKFIDO
public import YKLUKS
import YKSSH
import YKWire

/// An entry of a file or volume that one key can open. Only the keys can report which one.
public struct CredentialReference: Hashable, Sendable {
    /// How to find out whether the entry belongs to a key.
    public enum Test: Hashable, Sendable {
        /// The key has this FIDO2 or U2F credential.
        case credential([UInt8], rpID: String)
        /// The key stores a credential of this relying party whose public key has this fingerprint.
        case stored(fingerprint: String, rpID: String)
        /// The key has this age key in a PIV slot.
        case ageKey(AgePublicKey)
        /// The key has an age key with this tag in a PIV slot.
        case ageTag([UInt8])
        /// The key has, in a PIV slot, the key for which a file key was wrapped.
        case ageFile(AgeWrapping)
        /// The key has this serial number.
        case serial(String)
        /// There is no way to find out.
        case none
    }

    /// What is opened.
    public var item: Inventory.Item
    /// How to find out whether it belongs to a key.
    public var test: Test

    /// Creates a reference.
    public init(_ item: Inventory.Item, _ test: Test) { (self.item, self.test) = (item, test) }

    /// Creates a reference to a credential, marked by its identifier.
    init(_ kind: Inventory.Kind, _ target: String, name: String, credential: [UInt8], rpID: String) {
        self.init(
            Inventory.Item(kind, target, name: name, mark: Self.fingerprint(credential)),
            .credential(credential, rpID: rpID))
    }

    /// The mark of an item: the SHA-256 of a public key or credential in hexadecimal.
    static func fingerprint(_ bytes: [UInt8]) -> String { Hex.encode(HashAlgorithm.sha256.hash(bytes)) }
}

/// Why a file has no usable references.
public enum ReferenceError: Error, Hashable, Sendable {
    /// It is of an unknown kind.
    case unknownKind
    /// It violates its format.
    case malformed(String)
    /// It is a volume that has no usable tokens.
    case volume(LUKSError)
}

extension CredentialReference {
    /// The number of bytes at the start of a file or volume that contain all its references: the largest header of LUKS2.
    public static let readLimit = LUKS2Header.readLimit

    /// Reads the references of a file: a LUKS2 volume or its metadata in JSON, a private key file of OpenSSH, recipients,
    /// identities or an encrypted file of age, or a mapping file of pam_u2f.
    ///
    /// - Parameters:
    ///   - bytes: The start of the file, up to ``readLimit`` bytes.
    ///   - name: The display name of the file.
    ///   - host: The name of this machine, for the origin of pam_u2f.
    /// - Throws: ``ReferenceError``.
    public static func all(in bytes: [UInt8], of name: String, host: String) throws(ReferenceError) -> [Self] {
        if LUKS2Header.isLUKS(bytes) { return try volume(bytes, name) }
        if bytes.first == UInt8(ascii: "{") { return try metadata(bytes, name) }
        if bytes.starts(with: Array("age-encryption.org/v1\n".utf8)) { return try ageFile(bytes, name) }
        if let armored = PEM.contents("AGE ENCRYPTED FILE", in: bytes).first { return try ageFile(armored, name) }
        if bytes.starts(with: Array("-----BEGIN OPENSSH PRIVATE KEY-----".utf8)) { return try sshFile(bytes, name) }
        guard let text = TextFile.unicode(bytes) else { throw .unknownKind }
        let lines = text.split(whereSeparator: \.isNewline).map { String($0).trimmed }.filter {
            !$0.isEmpty && !$0.hasPrefix("#")
        }
        guard let first = lines.first else { return [] }
        let start = first.lowercased()
        if start.hasPrefix("age1") || start.hasPrefix("age-") { return try ageKeys(lines, name) }
        guard first.utf8.contains(UInt8(ascii: ":")), first.utf8.contains(UInt8(ascii: ",")) else { throw .unknownKind }
        return PAMU2FMapping(bytes).users.flatMap { mapping($0, origin: "pam://\(host)") }
    }

    // MARK: LUKS

    private static func volume(_ bytes: [UInt8], _ name: String) throws(ReferenceError) -> [Self] {
        do throws(LUKSError) {
            let header = try LUKS2Header(bytes)
            return tokens(header.metadata, of: name, target: header.uuid.isEmpty ? name : header.uuid)
        } catch { throw .volume(error) }
    }

    /// The metadata as printed by `cryptsetup luksDump --dump-json-metadata`.
    private static func metadata(_ bytes: [UInt8], _ name: String) throws(ReferenceError) -> [Self] {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw .malformed("\(error)") }
        do throws(LUKSError) { return tokens(try LUKS2Metadata(json), of: name, target: name) } catch .notLUKS {
            throw .unknownKind
        } catch { throw .volume(error) }
    }

    private static func tokens(_ metadata: LUKS2Metadata, of name: String, target: String) -> [Self] {
        metadata.tokens.compactMap { token in
            switch token.kind {
            case .fido2(let found):
                return Self(.luks, target, name: name, credential: found.credential, rpID: found.rpID)
            case .pkcs11:
                return Self(Inventory.Item(.luks, target, name: name), token.serial.map { .serial($0) } ?? .none)
            case .recovery, .other, .malformed: return nil  // What systemd cannot use opens nothing.
            }
        }
    }

    // MARK: SSH

    private static func sshFile(_ bytes: [UInt8], _ name: String) throws(ReferenceError) -> [Self] {
        let file: SecurityKeyFile
        do { file = try SecurityKeyFile(parsing: bytes) } catch {
            switch error {
            case .notInSecurityKey: return []
            case .encrypted: return [Self(Inventory.Item(.ssh, name, name: name), .none)]
            default: throw .malformed(error.description)
            }
        }
        let application = file.publicKey.application ?? ""
        var item = Inventory.Item.ssh(file.publicKey)
        item.name += " (\(name))"
        return [Self(item, .credential(file.handle, rpID: application))]
    }

    // MARK: age

    /// The recipients or identities of a file; those that belong to no security key are omitted.
    private static func ageKeys(_ lines: [String], _ name: String) throws(ReferenceError) -> [Self] {
        var found: [Self] = []
        for line in lines {
            let test: Test
            do throws(AgeError) {
                test =
                    line.lowercased().hasPrefix("age-")
                    ? Test(try AgeIdentity(parsing: line)) : Test(try AgeRecipient(parsing: line))
            } catch { continue }  // Recipients of other plugins and passphrases stand beside those of keys.
            if test != .none { found.append(age(test, name)) }
        }
        return found
    }

    /// The recipients in the header of an encrypted file.
    private static func ageFile(_ bytes: [UInt8], _ name: String) throws(ReferenceError) -> [Self] {
        var reader = AgeStanzaReader()
        var found: [Self] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst() {
            if !reader.isInside, line.starts(with: Array("---".utf8)) { return found }
            do throws(AgeError) {
                guard let stanza = try reader.take(Array(line)), let wrapping = try AgeWrapping(stanza) else {
                    continue
                }
                switch wrapping {
                case .fido2(let credential, _, _): found.append(age(Test(credential), name))
                case .pivP256, .p256tag: found.append(age(.ageFile(wrapping), name))
                case .x25519: break  // The stanza does not tell for whom it is.
                }
            } catch { throw .malformed("\(error)") }
        }
        throw .malformed("the header of the file is truncated")
    }

    private static func age(_ test: Test, _ name: String) -> Self {
        let mark =
            switch test {
            case .credential(let id, _): fingerprint(id)
            case .ageKey(let key): key.recipient.text()
            default: String?.none
            }
        return Self(Inventory.Item(.age, name, name: name, mark: mark), test)
    }

    // MARK: pam_u2f

    private static func mapping(_ user: PAMU2FMapping.User, origin: String) -> [Self] {
        user.credentials.map { credential in
            let target = "\(user.name) \(origin)"
            guard let id = credential.id else {
                let mark = credential.publicKey.map(fingerprint)
                return Self(
                    Inventory.Item(.pamU2F, target, name: user.name, mark: mark),
                    mark.map { .stored(fingerprint: $0, rpID: origin) } ?? .none)
            }
            return Self(.pamU2F, target, name: user.name, credential: id, rpID: origin)
        }
    }
}

extension CredentialReference.Test {
    fileprivate init(_ credential: AgeCredential) { self = .credential(credential.id, rpID: AgeCredential.rpID) }

    fileprivate init(_ recipient: AgeRecipient) {
        switch recipient {
        case .x25519(let bytes): self = .ageKey(.x25519(bytes))
        case .p256tag(let point), .pivP256(let point): self = .ageKey(.p256(point))
        case .fido2(let credential, _): self.init(credential)
        }
    }

    fileprivate init(_ identity: AgeIdentity) {
        switch identity {
        case .slot(_, _, let key): self = .ageKey(key)
        case .yubikey(_, _, let tag): self = .ageTag(tag)
        case .fido2(let credential, _): self.init(credential)
        case .any: self = .none
        }
    }
}

extension Inventory.Item {
    /// The item of an SSH key: matched by its application, since the keys themselves always differ.
    static func ssh(_ key: SSHPublicKey) -> Inventory.Item {
        Inventory.Item(.ssh, key.application ?? key.type, name: key.fingerprint, mark: key.fingerprint)
    }
}
