// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
public import YKX509

/// Why a file of keys and certificates is rejected.
public enum KeyFileError: Error, Hashable, Sendable {
    /// It is neither PEM nor DER of a known kind.
    case unknownFormat
    /// It is in a format that only other programs read.
    case foreign(ForeignKeyFormat)
    /// It exceeds the size limit.
    case tooLarge(limit: Int)
    /// It is encrypted, and no password was given.
    case passwordNeeded
    /// The password is wrong.
    case wrongPassword
    /// A PEM block is malformed.
    case malformed(String)
    /// It specifies an excessive number of rounds.
    case tooMuchWork(rounds: UInt64)
    /// It is encrypted with this cipher, which OpenSSL 3 supports only with its legacy provider.
    case legacyCipher(String, isPKCS12: Bool)
    /// It is a private key in the format of OpenSSH, which the module YKSSH reads.
    case openSSH
    /// It has several keys, and does not identify the one to use.
    case severalKeys
    /// It has this many certificates that could be the one to use.
    case severalCertificates(Int)
    /// OpenSSL refused the key.
    case crypto(CryptoFault)
}

/// A format of keys or certificates that is recognized, but not read.
public enum ForeignKeyFormat: Hashable, Sendable {
    /// Certificates in PKCS#7 (RFC 2315), `.p7b`.
    case pkcs7
    /// A key of OpenPGP (RFC 9580), armored or not.
    case openPGP
    /// A key file of PuTTY, `.ppk`.
    case putty
    /// A JSON Web Key (RFC 7517).
    case jwk

    /// Recognizes a format by the first bytes.
    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes.prefix(1 << 12), as: UTF8.self)
        if ["PKCS7", "CMS"].contains(where: { text.contains(bytesOf: "-----BEGIN \($0)-----") })
            || Self.isSignedData(bytes)
        {
            self = .pkcs7
        } else if text.contains(bytesOf: "-----BEGIN PGP ") || bytes.first.map(Self.packets.contains) == true {
            self = .openPGP
        } else if text.hasPrefix("PuTTY-User-Key-File-") {
            self = .putty
        } else if let json = try? JSONValue(parsing: bytes), json["kty"] != nil || json["keys"] != nil {
            self = .jwk
        } else {
            return nil
        }
    }

    /// The first bytes of keys of OpenPGP: packets 5 and 6 with lengths of one or two bytes (RFC 9580 §4.2).
    private static let packets: Set<UInt8> = [0x94, 0x95, 0x98, 0x99, 0xC5, 0xC6]

    private static func isSignedData(_ bytes: [UInt8]) -> Bool {
        let content = (try? TLV.list(bytes))?.first { $0.tag == 0x30 }.flatMap { try? TLV.list($0.value) }
        return content?.first == TLV(0x06, signedData)
    }

    /// 1.2.840.113549.1.7.2.
    private static let signedData: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]
}

/// Keys and certificates of a file: PEM (RFC 7468; keys encrypted or not), DER, or PKCS#12 (RFC 7292).
public struct KeyFile: Sendable {
    /// The private key.
    public let privateKey: PrivateKey?
    /// The separate public key.
    public let publicKey: PublicKey?
    /// The certificates: the key's own first if the file identifies it, otherwise in file order.
    public let certificates: [X509Certificate]

    /// Maximum file size in bytes.
    public static let limit = 1 << 20

    /// Reads a file; the password is used only if it is encrypted. PEM may be UTF-8 or UTF-16.
    ///
    /// - Throws: `invalidFile`, with `severalKeys` for more than one private or public key.
    public init(_ bytes: [UInt8], password: SharedSecret? = nil) throws(PIVError) {
        do { self = try Self.read(bytes, password) } catch { throw .invalidFile(error) }
    }

    /// Creates the contents of a file from keys and certificates in another format.
    public init(
        privateKey: PrivateKey? = nil, publicKey: PublicKey? = nil, certificates: [X509Certificate] = []
    ) {
        self.privateKey = privateKey
        self.publicKey = publicKey
        self.certificates = certificates
    }

    private static func read(_ bytes: [UInt8], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        let blocks = PEM.blocks(bytes)
        do throws(KeyFileError) {
            return try blocks.isEmpty ? der(bytes, password) : pem(blocks, password)
        } catch {
            guard error == .unknownFormat, let format = ForeignKeyFormat(bytes) else { throw error }
            throw .foreign(format)
        }
    }

    private static func pem(_ blocks: [PEM], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        var certificates: [X509Certificate] = []
        var (privateKeys, publicKeys): ([PEM], [PEM]) = ([], [])
        for block in blocks {
            switch block.label {
            case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
                certificates.append(try certificate(block))
            case "PUBLIC KEY": publicKeys.append(block)
            case let label where label.hasSuffix("PRIVATE KEY"): privateKeys.append(block)
            default: continue
            }
        }
        let privateKey = try sole(privateKeys).map { block throws(KeyFileError) in try key(block, password) }
        let publicKey = try sole(publicKeys).map { block throws(KeyFileError) in try Self.publicKey(block) }
        guard privateKey != nil || publicKey != nil || !certificates.isEmpty else { throw .unknownFormat }
        return KeyFile(privateKey: privateKey, publicKey: publicKey, certificates: certificates)
    }

    /// After a trusted certificate of OpenSSL's are its names and purposes (openssl-x509, "-trustout"), which are dropped.
    private static func certificate(_ block: PEM) throws(KeyFileError) -> X509Certificate {
        let isTrusted = block.label == "TRUSTED CERTIFICATE"
        let der = isTrusted ? (try? X509Certificate.split(block.content))?.first : block.content
        guard let der, let certificate = try? X509Certificate(der: der) else {
            throw .malformed("a certificate in it is malformed")
        }
        return certificate
    }

    /// The only block of a kind; identical copies of it are ignored.
    private static func sole(_ blocks: [PEM]) throws(KeyFileError) -> PEM? {
        guard blocks.allSatisfy({ $0.content == blocks[0].content }) else { throw .severalKeys }
        return blocks.first
    }

    private static func key(_ block: PEM, _ password: SharedSecret?) throws(KeyFileError) -> PrivateKey {
        if block.label == "OPENSSH PRIVATE KEY" { throw .openSSH }
        guard block.isEncrypted else {
            do { return try PrivateKey(der: Secret(block.content)) } catch { throw .crypto(error) }
        }
        if password == nil { throw .passwordNeeded }
        let rounds = KeyDerivationRounds.total(in: block.content)
        guard rounds <= PKCS12.roundLimit else { throw .tooMuchWork(rounds: rounds) }
        do { return try PrivateKey(pem: block.text, password: password) } catch {
            let cipher = LegacyCipher.name(inHeadersOf: block.text) ?? LegacyCipher.name(in: block.content)
            if let cipher { throw .legacyCipher(cipher, isPKCS12: false) }
            throw .wrongPassword
        }
    }

    private static func publicKey(_ block: PEM) throws(KeyFileError) -> PublicKey {
        do { return try PublicKey(subjectPublicKeyInfo: block.content) } catch { throw .crypto(error) }
    }

    private static func der(_ bytes: [UInt8], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        guard bytes.first == 0x30 else { throw .unknownFormat }
        if let certificate = try? X509Certificate(der: bytes) { return KeyFile(certificates: [certificate]) }
        if isEncryptedKey(bytes) {
            let text = PEM.encode("ENCRYPTED PRIVATE KEY", bytes)
            return try pem(PEM.blocks(Array(text.utf8)), password)
        }
        if PrivateKey.otherType(bytes) != nil {
            do { return KeyFile(privateKey: try PrivateKey(der: Secret(bytes))) } catch { throw .crypto(error) }
        }
        if let key = try? PrivateKey(der: Secret(bytes)) { return KeyFile(privateKey: key) }
        if let key = try? PublicKey(subjectPublicKeyInfo: bytes) { return KeyFile(publicKey: key) }
        return try pkcs12(bytes, password)
    }

    /// Whether this is an EncryptedPrivateKeyInfo (RFC 5958 §3): an algorithm, and an octet string.
    private static func isEncryptedKey(_ bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard var content = try? reader.der(0x30, "a key"), reader.isAtEnd,
            (try? content.der(0x30, "its encryption")) != nil, (try? content.derOctets("the key")) != nil
        else { return false }
        return content.isAtEnd
    }

    private static func pkcs12(_ bytes: [UInt8], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        let file: PKCS12
        do {
            if let password {
                file = try PKCS12(bytes, password: password.value)
            } else {
                file = try PKCS12(bytes, password: Secret([]))
            }
        } catch {
            switch error {
            case .malformed: throw .unknownFormat
            case .wrongPassword: throw password == nil ? .passwordNeeded : .wrongPassword
            case .tooMuchWork(let rounds): throw .tooMuchWork(rounds: rounds)
            case .legacyCipher(let name): throw password == nil ? .passwordNeeded : .legacyCipher(name, isPKCS12: true)
            case .crypto(let cause): throw .crypto(cause)
            }
        }
        guard file.keyCount < 2 else { throw .severalKeys }
        var certificates: [X509Certificate] = []
        for der in file.certificates {
            guard let certificate = try? X509Certificate(der: der) else {
                throw .malformed("a certificate is malformed")
            }
            certificates.append(certificate)
        }
        guard file.key != nil || !certificates.isEmpty else { throw .unknownFormat }
        return KeyFile(privateKey: file.key, certificates: certificates)
    }

    /// Returns the certificate to use, wherever it is in the file: that of a key; otherwise that of the file's private
    /// key; otherwise the only one that issued no other, authorities last.
    ///
    /// - Parameter key: The public key of the certificate, if it is known.
    /// - Returns: `nil` if the file has no certificate. If none is for `key`, one that is for another key.
    /// - Throws: `invalidFile` with `severalCertificates` if more than one is possible.
    public func certificate(for key: PublicKey? = nil) throws(PIVError) -> X509Certificate? {
        for known in [key, privateKey?.publicKey].compactMap({ $0 }) {
            if let own = certificates.first(where: { $0.publicKey == known }) { return own }
        }
        var seen: Set<X509Certificate> = []
        let distinct = certificates.filter { seen.insert($0).inserted }
        let last = distinct.filter { candidate in
            !distinct.contains { $0 != candidate && $0.issuer == candidate.subject && $0.subject != candidate.subject }
        }
        let ends = last.filter { (try? $0.basicConstraints)?.isAuthority != true }
        let candidates = ends.isEmpty ? last : ends
        guard candidates.count < 2 else { throw .invalidFile(.severalCertificates(candidates.count)) }
        return candidates.first ?? distinct.first
    }
}
