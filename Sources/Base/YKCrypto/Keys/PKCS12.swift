// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// The contents of a PKCS#12 file (RFC 7292, RFC 9579).
public struct PKCS12: Sendable {
    /// The private key, if the file has one of a supported kind.
    public let key: PrivateKey?
    /// The certificates, DER: the one for the key first.
    public let certificates: [[UInt8]]
    /// The number of private keys, of which ``key`` is the first. Only keys outside encrypted contents are counted,
    /// where keys usually are, each encrypted on its own.
    public let keyCount: Int

    /// Why a file cannot be opened.
    public enum Fault: Error, Hashable, Sendable {
        /// The file is not PKCS#12.
        case malformed
        /// The password is wrong.
        case wrongPassword
        /// The file requires more rounds of key derivation than ``PKCS12/roundLimit``.
        case tooMuchWork(rounds: UInt64)
        /// The file is encrypted with this cipher, which OpenSSL 3 does not support here.
        case legacyCipher(String)
        /// OpenSSL refused the key.
        case crypto(CryptoFault)
    }

    /// The maximum file size in bytes.
    public static let limit = 1 << 20
    /// The maximum number of key-derivation rounds.
    public static let roundLimit: UInt64 = 5_000_000

    /// Opens a DER file. An empty password is also tried as an absent one.
    public init(_ bytes: [UInt8], password: borrowing Secret) throws(Fault) {
        guard bytes.count <= Self.limit else { throw .malformed }
        let rounds = KeyDerivationRounds.total(in: bytes)
        guard rounds <= Self.roundLimit else { throw .tooMuchWork(rounds: rounds) }
        if let plain = try Self.withoutPBMAC1(bytes, password) {
            self = try PKCS12(plain, password: password)
            return
        }
        var blobs = [ykit_blob](repeating: ykit_blob(), count: 32)
        var count = blobs.count
        var phrase = password.copyBytes() + [0]
        defer { Secret.wipe(&phrase) }
        let result = phrase.withUnsafeBytes { phrase in
            ykit_pkcs12(bytes, bytes.count, phrase.bindMemory(to: CChar.self).baseAddress, &blobs, &count)
        }
        guard result == 0 else {
            do { try OpenSSL.require() } catch { throw .crypto(error) }
            if result != -2, let cipher = LegacyCipher.name(in: bytes) { throw .legacyCipher(cipher) }
            throw result == -1 ? .malformed : .wrongPassword
        }
        defer { for blob in blobs[..<count] { ykit_blob_free(blob) } }
        keyCount = Self.keyBags(in: bytes)
        certificates = blobs[1..<max(1, count)].map { Array(UnsafeBufferPointer(start: $0.bytes, count: $0.size)) }
        do {
            guard let start = blobs[0].bytes else {
                key = nil
                return
            }
            key = try PrivateKey(der: Secret(UnsafeBufferPointer(start: start, count: blobs[0].size)))
        } catch { throw .crypto(error) }
    }

    /// Counts the identifiers of keyBag and pkcs8ShroudedKeyBag (RFC 7292 appendix D).
    package static func keyBags(in bytes: [UInt8]) -> Int {
        ([1, 2] as [UInt8]).reduce(0) { count, last in
            let name: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x0A, 0x01, last]
            return count + bytes.occurrences(of: DERWriter.object(0x06, name))
        }
    }

    /// Checks a file's PBMAC1 (RFC 9579 §4), which OpenSSL supports from 3.4 on, and removes it.
    ///
    /// - Returns: The file without a MAC; `nil` if it has another kind of MAC, or none.
    /// - Throws: `wrongPassword`, or `crypto` for functions other than PBKDF2 and HMAC.
    static func withoutPBMAC1(_ bytes: [UInt8], _ password: borrowing Secret) throws(Fault) -> [UInt8]? {
        var outer = DERReader(bytes)
        guard var file = outer.object(0x30), let version = file.number(), let contents = file.object(0x30),
            var mac = file.object(0x30), var digestInfo = mac.object(0x30), var algorithm = digestInfo.object(0x30),
            algorithm.object(0x06).map({ Array($0.rest) }) == pbmac1, var content = data(contents)
        else { return nil }
        guard let function = PBMAC1(&algorithm), let stated = digestInfo.object(0x04) else {
            throw .crypto(CryptoFault("its MAC (PBMAC1) does not use PBKDF2 and HMAC with SHA-1 or SHA-2"))
        }
        defer { Secret.wipe(&content) }
        let computed: [UInt8]
        do { computed = try function.code(of: content, password) } catch { throw .crypto(error) }
        guard constantTimeEqual(computed, Array(stated.rest)) else { throw .wrongPassword }
        return DERWriter.sequence(DERWriter.number(version), DERWriter.object(0x30, Array(contents.rest)))
    }

    /// The bytes that the MAC covers: the content of an id-data.
    private static func data(_ info: DERReader) -> [UInt8]? {
        var info = info
        guard info.object(0x06) != nil, var tagged = info.object(0xA0) else { return nil }
        return tagged.object(0x04).map { Array($0.rest) }
    }

    /// id-PBMAC1, 1.2.840.113549.1.5.14.
    private static let pbmac1: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0E]

    /// The parameters of a PBMAC1 (RFC 8018 §A.5).
    private struct PBMAC1 {
        let salt: [UInt8]
        let rounds: Int
        let length: Int
        let derivation: HashAlgorithm
        let authentication: HashAlgorithm

        init?(_ algorithm: inout DERReader) {
            guard var parameters = algorithm.object(0x30), var derivation = parameters.object(0x30),
                derivation.object(0x06).map({ Array($0.rest) }) == Self.pbkdf2, var function = derivation.object(0x30),
                let salt = function.object(0x04), let rounds = Self.number(&function),
                let authentication = Self.hmac(&parameters)
            else { return nil }
            let length = Self.number(&function)
            self.salt = Array(salt.rest)
            self.rounds = rounds
            self.length = length ?? authentication.digestSize
            self.authentication = authentication
            // The default is HMAC with SHA-1.
            guard !function.isAtEnd else {
                self.derivation = .sha1
                return
            }
            guard let named = Self.hmac(&function) else { return nil }
            self.derivation = named
        }

        func code(of content: [UInt8], _ password: borrowing Secret) throws(CryptoFault) -> [UInt8] {
            let key = try derivation.pbkdf2(password, salt: salt, rounds: rounds, length: length)
            return authentication.hmac(key: key, content)
        }

        /// id-PBKDF2, 1.2.840.113549.1.5.12.
        private static let pbkdf2: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05, 0x0C]

        /// A positive number of at most four bytes; nothing is read if the next object is none.
        private static func number(_ reader: inout DERReader) -> Int? {
            guard reader.rest.first == 0x02, let digits = reader.number(), (1...4).contains(digits.count) else {
                return nil
            }
            return digits.reduce(0) { $0 << 8 | Int($1) }
        }

        /// The hash of hmacWithSHA1, …256, …384 or …512: 1.2.840.113549.2.7, 9, 10 and 11.
        private static func hmac(_ reader: inout DERReader) -> HashAlgorithm? {
            var algorithm = reader.object(0x30)
            let digestAlgorithms: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x02]
            guard let name = algorithm?.object(0x06)?.rest, name.dropLast().elementsEqual(digestAlgorithms) else {
                return nil
            }
            switch name.last {
            case 7: return .sha1
            case 9: return .sha256
            case 10: return .sha384
            case 11: return .sha512
            default: return nil
            }
        }
    }
}
