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
}
