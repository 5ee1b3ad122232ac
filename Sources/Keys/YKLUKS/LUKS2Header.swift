// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKHardware
import YKWire

/// The header of a LUKS2 volume (LUKS2 On-Disk Format Specification, version 1.1.3 §2). Of the two copies, the newest
/// with a valid checksum is used. The key material after them is not read.
public struct LUKS2Header: Hashable, Sendable {
    /// The number of bytes at the start of a volume that contain both copies of the largest header.
    public static let readLimit = 8 << 20

    /// The volume's UUID.
    public let uuid: String
    /// The volume's label; empty if it has none.
    public let label: String
    /// The number of times that the header was written.
    public let sequence: UInt64
    /// The size of one copy with its JSON area, in bytes.
    public let size: Int
    /// Whether the other copy is damaged or older, as after an interrupted write.
    public let isOtherCopyStale: Bool
    /// Key slots and tokens.
    public let metadata: LUKS2Metadata

    /// The number of bytes at the start of the volume that a backup must contain: both copies and the key material.
    public var backupSize: Int { 2 * size + metadata.keyslotsSize }

    /// Whether bytes begin like a LUKS volume of any version.
    public static func isLUKS(_ bytes: [UInt8]) -> Bool { bytes.starts(with: Copy.magic) }

    /// Reads the start of a volume, up to ``readLimit`` bytes.
    ///
    /// - Throws: `notLUKS`, `version` or `damaged`.
    public init(_ bytes: [UInt8]) throws(LUKSError) {
        let first: Result<Copy, LUKSError> = Self.copy(in: bytes, at: 0)
        if case .failure(.version(let version)) = first { throw .version(version) }
        let second = Self.second(in: bytes, after: try? first.get())
        let copies = [try? first.get(), second].compactMap(\.self)
        guard let newest = copies.max(by: { $0.sequence < $1.sequence }) else {
            // A file that does not begin like a volume and has no second copy is not a LUKS volume.
            _ = try first.get()
            throw .notLUKS
        }
        (uuid, label, sequence, size) = (newest.uuid, newest.label, newest.sequence, newest.size)
        isOtherCopyStale = copies.count < 2 || copies[0].sequence != copies[1].sequence
        let json: JSONValue
        do { json = try JSONValue(parsing: newest.json) } catch { throw .damaged("its metadata: \(error)") }
        metadata = try LUKS2Metadata(json)
        guard metadata.hasKeyslots else { throw .damaged("its metadata has no key slots") }
    }

    private static func copy(in bytes: [UInt8], at offset: Int) -> Result<Copy, LUKSError> {
        do throws(LUKSError) { return .success(try Copy(in: bytes, at: offset)) } catch { return .failure(error) }
    }

    /// The second copy, which follows the first one; if that is damaged, it is searched for at all offsets that the
    /// format allows.
    private static func second(in bytes: [UInt8], after first: Copy?) -> Copy? {
        let places = first.map { [$0.size] } ?? Copy.sizes
        return places.lazy.compactMap { try? copy(in: bytes, at: $0).get() }.first
    }

    /// One of the two copies, with a valid checksum.
    private struct Copy {
        static let magic = Array("LUKS".utf8) + [0xBA, 0xBE]
        static let secondMagic = Array("SKUL".utf8) + [0xBA, 0xBE]
        /// The sizes that the format allows, in bytes.
        static let sizes = (14...22).map { 1 << $0 }
        private static let binarySize = 4096
        private static let checksum = 448..<512

        let sequence: UInt64
        let size: Int
        let uuid: String
        let label: String
        /// The JSON text, without the zeros after it.
        let json: [UInt8]

        init(in bytes: [UInt8], at offset: Int) throws(LUKSError) {
            guard bytes.count >= offset, bytes.count - offset >= Self.binarySize else { throw .notLUKS }
            let binary = Array(bytes[offset..<offset + Self.binarySize])
            guard binary.starts(with: offset == 0 ? Self.magic : Self.secondMagic) else { throw .notLUKS }
            let version = Int(binary[6]) << 8 | Int(binary[7])
            guard version == 2 else { throw .version(version) }
            guard let size = Self.sizes.first(where: { UInt64($0) == Self.number(binary, at: 8) }) else {
                throw .damaged("a header of \(Self.number(binary, at: 8)) bytes")
            }
            guard bytes.count - offset >= size else { throw .damaged("its header ends after \(bytes.count) bytes") }
            guard Self.number(binary, at: 256) == UInt64(offset) else { throw .damaged("a header at the wrong offset") }
            guard let algorithm = Self.hash(named: Self.text(binary, 72..<104)) else {
                throw .damaged("an unknown checksum algorithm")
            }
            let area = bytes[offset + Self.binarySize..<offset + size]
            var checked = binary
            for index in Self.checksum { checked[index] = 0 }
            let sum = algorithm.hash(checked + area)
            guard Array(binary[Self.checksum].prefix(sum.count)) == sum else { throw .damaged("a wrong checksum") }
            self.size = size
            sequence = Self.number(binary, at: 16)
            label = Self.text(binary, 24..<72)
            uuid = Self.text(binary, 168..<208)
            json = Array(area.prefix { $0 != 0 })
        }

        /// A number of 8 bytes, the most significant first.
        private static func number(_ bytes: [UInt8], at offset: Int) -> UInt64 {
            bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }

        /// A text that ends at a zero byte; empty if it is not UTF-8.
        private static func text(_ bytes: [UInt8], _ range: Range<Int>) -> String {
            String(validating: bytes[range].prefix { $0 != 0 }, as: UTF8.self) ?? ""
        }

        private static func hash(named name: String) -> HashAlgorithm? {
            switch name.lowercased() {
            case "sha1": .sha1
            case "sha256": .sha256
            case "sha384": .sha384
            case "sha512": .sha512
            default: nil
            }
        }
    }
}

/// Why a volume cannot be read or changed.
public enum LUKSError: Error, Hashable, Sendable {
    /// It is not a LUKS volume.
    case notLUKS
    /// It is a LUKS volume of a version other than 2, which has no tokens.
    case version(Int)
    /// Both copies of the header violate the format.
    case damaged(String)
    /// All numbers of slots or tokens are taken.
    case full
    /// There is no such slot.
    case noSuchSlot(Int)
    /// No other slot opens the volume.
    case lastSlot(Int)
    /// The key is neither RSA nor on P-256 or P-384.
    case unfitKey
    /// cryptsetup is not installed.
    case noCryptsetup
    /// No slot has the passphrase.
    case wrongPassphrase
    /// The slot was added, but not its token, and cryptsetup could not remove it again.
    case slotRemains(Int)
    /// cryptsetup failed, with its message.
    case cryptsetup(String, status: Int)
    /// cryptsetup could not be run, or did not finish.
    case program(ProgramError)
}
