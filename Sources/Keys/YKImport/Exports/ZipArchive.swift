// SPDX-License-Identifier: Apache-2.0

import YKCompression
import YKCrypto
import YKWire

/// A ZIP archive as authenticators export it: stored or deflated files, unencrypted or with WinZip's AES encryption
/// (APPNOTE 6.3.10 §4.3; WinZip, "AES Encryption Information", AE-1 and AE-2).
struct ZipArchive: Sendable {
    /// A file of the archive.
    struct File: Sendable {
        let name: String
        let isEncrypted: Bool
        /// 0 stored, 8 deflated, 99 encrypted with AES.
        fileprivate let method: Int
        fileprivate let size: Int
        fileprivate let compressed: Int
        fileprivate let offset: Int
        fileprivate let extra: [UInt8]
    }

    private(set) var files: [File] = []
    private let bytes: [UInt8]
    /// Bitwarden's archives contain all attachments.
    private static let fileLimit = 16_384

    static func matches(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// Reads the central directory.
    init(_ bytes: [UInt8]) throws(ExportError) {
        self.bytes = bytes
        do { try read() } catch { throw .damagedArchive("the archive's directory") }
    }

    private mutating func read() throws(WireError) {
        // The end of central directory record is followed by a comment of at most 65,535 bytes.
        let mark: [UInt8] = [0x50, 0x4B, 0x05, 0x06]
        let lowest = max(0, bytes.count - 22 - 0xFFFF)
        guard bytes.count >= 22,
            let end = stride(from: bytes.count - 22, through: lowest, by: -1).first(where: {
                bytes[$0] == mark[0] && bytes[$0..<($0 + 4)].elementsEqual(mark)
            })
        else { throw WireError(.malformed, at: 0, "no end of the directory") }
        var tail = ByteReader(Array(bytes[(end + 10)...]))
        let count = Int(try tail.littleEndian(2))
        _ = try tail.littleEndian(4)
        let start = Int(try tail.littleEndian(4))
        guard count <= Self.fileLimit, start <= end else { throw WireError(.tooLarge, at: end, "the directory") }
        var reader = ByteReader(Array(bytes[start..<end]))
        for _ in 0..<count { files.append(try Self.file(&reader)) }
    }

    private static func file(_ reader: inout ByteReader) throws(WireError) -> File {
        guard try reader.littleEndian(4) == 0x0201_4B50 else {
            throw WireError(.malformed, at: reader.offset, "not an entry of the directory")
        }
        _ = try reader.bytes(4)
        let flags = try reader.littleEndian(2)
        let method = Int(try reader.littleEndian(2))
        _ = try reader.bytes(8)
        let compressed = Int(try reader.littleEndian(4))
        let size = Int(try reader.littleEndian(4))
        let nameLength = Int(try reader.littleEndian(2))
        let extraLength = Int(try reader.littleEndian(2))
        let commentLength = Int(try reader.littleEndian(2))
        _ = try reader.bytes(8)
        let offset = Int(try reader.littleEndian(4))
        let name = String(decoding: try reader.bytes(nameLength), as: UTF8.self)
        let extra = try reader.bytes(extraLength)
        _ = try reader.bytes(commentLength)
        return File(
            name: name, isEncrypted: flags & 1 != 0, method: method, size: size, compressed: compressed,
            offset: offset, extra: extra)
    }

    /// The contents of a file.
    ///
    /// - Throws: `.unreadable` for the old ZIP encryption and other compression methods, `.wrongPassword`, and
    ///   `.malformed`.
    func contents(of file: File, password: ExportUnlocking?) throws(ExportError) -> [UInt8] {
        guard file.size <= AuthenticatorExport.byteLimit, file.compressed <= AuthenticatorExport.byteLimit else {
            throw .damagedArchive("the file in the archive is too large")
        }
        let stored = try data(of: file)
        guard file.isEncrypted else { return try inflated(stored, file.method, file.size) }
        guard file.method == 99 else {
            throw .unreadable("ZIP archive with the old ZIP encryption", "unpack it and import the export in it")
        }
        guard let password else { throw .needsPassword(.raivo) }
        let (strength, method) = try Self.encryption(file.extra)
        let plain = try opened(stored, strength: strength, password)
        return try inflated(plain, method, file.size)
    }

    /// The bytes after the file's local header.
    private func data(of file: File) throws(ExportError) -> [UInt8] {
        guard file.offset <= bytes.count - 30 else { throw .damagedArchive("the archive ends early") }
        var header = ByteReader(Array(bytes[file.offset..<(file.offset + 30)]))
        guard (try? header.littleEndian(4)) == 0x0403_4B50, (try? header.bytes(22)) != nil,
            let name = try? header.littleEndian(2), let extra = try? header.littleEndian(2)
        else { throw .damagedArchive("the header of the file in the archive") }
        let start = file.offset + 30 + Int(name) + Int(extra)
        guard start <= bytes.count, file.compressed <= bytes.count - start else {
            throw .damagedArchive("the archive ends early")
        }
        return Array(bytes[start..<(start + file.compressed)])
    }

    private func inflated(_ bytes: [UInt8], _ method: Int, _ size: Int) throws(ExportError) -> [UInt8] {
        switch method {
        case 0: return bytes
        case 8:
            guard let plain = Compression.inflate(bytes, size: UInt64(size)) else {
                throw .damagedArchive("the compressed file in the archive")
            }
            return plain
        default: throw .unreadable("ZIP archive with compression method \(method)", "unpack it and import the export")
        }
    }

    /// The extra field 0x9901: version, "AE", strength 1 to 3, and the underlying compression method.
    private static func encryption(_ extra: [UInt8]) throws(ExportError) -> (strength: Int, method: Int) {
        var reader = ByteReader(extra)
        while let id = try? reader.littleEndian(2), let size = try? reader.littleEndian(2),
            let field = try? reader.bytes(Int(size))
        {
            guard id == 0x9901, field.count >= 7 else { continue }
            guard (1...3).contains(field[4]) else { break }
            return (Int(field[4]), Int(field[5]) | Int(field[6]) << 8)
        }
        throw .damagedArchive("the encryption of the file in the archive")
    }

    /// Salt, two password verification bytes, ciphertext, ten bytes of HMAC-SHA-1; PBKDF2-SHA-1 with 1,000 rounds,
    /// AES in counter mode with a little-endian counter starting at 1.
    private func opened(_ stored: [UInt8], strength: Int, _ unlocking: ExportUnlocking) throws(ExportError) -> [UInt8] {
        let keySize = 8 + strength * 8
        let saltSize = keySize / 2
        guard stored.count >= saltSize + 12 else { throw .damagedArchive("the archive ends early") }
        let keys = try unlocking.key(
            .sha1, salt: Array(stored[..<saltSize]), rounds: 1_000, length: keySize * 2 + 2, .raivo)
        var material = keys.value.copyBytes()
        defer { Secret.wipe(&material) }
        let check = Array(stored[saltSize..<(saltSize + 2)])
        guard constantTimeEqual(check, Array(material.suffix(2))) else { throw .wrongPassword(.raivo) }
        let ciphertext = Array(stored[(saltSize + 2)..<(stored.count - 10)])
        let mac = HashAlgorithm.sha1.hmac(key: Secret(material[keySize..<(keySize * 2)]), ciphertext)
        guard constantTimeEqual(Array(mac.prefix(10)), Array(stored.suffix(10))) else {
            throw .wrongPassword(.raivo)
        }
        return try Self.counted(ciphertext, key: Secret(material[..<keySize]))
    }

    private static func counted(_ ciphertext: [UInt8], key: borrowing Secret) throws(ExportError) -> [UInt8] {
        let blocks = (ciphertext.count + 15) / 16
        var counters: [UInt8] = []
        counters.reserveCapacity(blocks * 16)
        for block in 0..<blocks {
            let counter = UInt64(block) + 1
            counters += (0..<8).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt64($0))) }
            counters += [UInt8](repeating: 0, count: 8)
        }
        var plain = ciphertext
        for block in 0..<blocks {
            let start = block * 16
            guard let stream = try? BlockCipher.aes.encrypt(Array(counters[start..<(start + 16)]), key: key) else {
                throw .damagedArchive("the encryption of the file in the archive")
            }
            for index in start..<min(start + 16, plain.count) { plain[index] ^= stream[index - start] }
        }
        return plain
    }
}
