// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire
public import YKX509

/// Why a file of keys and certificates is rejected.
public enum KeyFileError: Error, Hashable, Sendable {
    /// It is neither PEM nor DER of a known kind.
    case unknownFormat
    /// It exceeds the size limit.
    case tooLarge(limit: Int)
    /// It is encrypted, and no password was given.
    case passwordNeeded
    /// The password is wrong.
    case wrongPassword
    /// A PEM block is malformed.
    case malformed(String)
    /// It asks for an excessive number of rounds.
    case tooMuchWork(rounds: UInt64)
    /// OpenSSL is not installed, or refused the key.
    case crypto(CryptoFault)
}

/// Keys and certificates of a file: PEM (RFC 7468; keys encrypted or not), DER, or PKCS#12 (RFC 7292).
public struct KeyFile: Sendable {
    /// The first private key.
    public let privateKey: PrivateKey?
    /// The first separate public key.
    public let publicKey: PublicKey?
    /// The certificates: the key's own first if the file identifies it, otherwise in file order.
    public let certificates: [X509Certificate]

    /// Maximum file size in bytes.
    public static let limit = 1 << 20

    /// Reads a file; the password is used only if it is encrypted.
    ///
    /// - Throws: `invalidFile`.
    public init(_ bytes: [UInt8], password: SharedSecret? = nil) throws(PIVError) {
        do { self = try Self.read(bytes, password) } catch { throw .invalidFile(error) }
    }

    private init(key: PrivateKey? = nil, publicKey: PublicKey? = nil, certificates: [X509Certificate] = []) {
        privateKey = key
        self.publicKey = publicKey
        self.certificates = certificates
    }

    private static func read(_ bytes: [UInt8], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        let blocks = PEM.blocks(bytes)
        return try blocks.isEmpty ? der(bytes, password) : pem(blocks, password)
    }

    private static func pem(_ blocks: [PEM], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        var key: PrivateKey?
        var publicKey: PublicKey?
        var certificates: [X509Certificate] = []
        for block in blocks {
            switch block.label {
            case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
                guard let certificate = try? X509Certificate(der: block.content) else {
                    throw .malformed("a certificate in it is malformed")
                }
                certificates.append(certificate)
            case "PUBLIC KEY":
                if publicKey != nil { continue }
                do { publicKey = try PublicKey(subjectPublicKeyInfo: block.content) } catch { throw .crypto(error) }
            case let label where label.hasSuffix("PRIVATE KEY"):
                if key == nil { key = try privateKey(block, password) }
            default: continue
            }
        }
        guard key != nil || publicKey != nil || !certificates.isEmpty else { throw .unknownFormat }
        return KeyFile(key: key, publicKey: publicKey, certificates: certificates)
    }

    private static func privateKey(_ block: PEM, _ password: SharedSecret?) throws(KeyFileError) -> PrivateKey {
        if block.isEncrypted, password == nil { throw .passwordNeeded }
        let rounds = KeyDerivationRounds.total(in: block.content)
        guard rounds <= PKCS12.roundLimit else { throw .tooMuchWork(rounds: rounds) }
        do { return try PrivateKey(pem: block.text, password: password) } catch {
            if block.isEncrypted { throw .wrongPassword }
            throw .crypto(error)
        }
    }

    private static func der(_ bytes: [UInt8], _ password: SharedSecret?) throws(KeyFileError) -> KeyFile {
        guard bytes.first == 0x30 else { throw .unknownFormat }
        if let certificate = try? X509Certificate(der: bytes) { return KeyFile(certificates: [certificate]) }
        if let key = try? PrivateKey(der: Secret(bytes)) { return KeyFile(key: key) }
        if let key = try? PublicKey(subjectPublicKeyInfo: bytes) { return KeyFile(publicKey: key) }
        return try pkcs12(bytes, password)
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
            case .crypto(let cause): throw .crypto(cause)
            }
        }
        var certificates: [X509Certificate] = []
        for der in file.certificates {
            guard let certificate = try? X509Certificate(der: der) else {
                throw .malformed("a certificate is malformed")
            }
            certificates.append(certificate)
        }
        guard file.key != nil || !certificates.isEmpty else { throw .unknownFormat }
        return KeyFile(key: file.key, certificates: certificates)
    }
}
