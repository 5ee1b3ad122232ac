// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKFIDO
import YKLUKS
import YKPIV
import YKTestSupport
import YKWire

/// The headers of cryptsetup 2.6.1 in the folder `headers`, each cut off behind the second copy:
///
/// - `plain.luks2`: `cryptsetup luksFormat --type luks2 --label disk --uuid 0fc63daf-…` with the passphrase "secret" in slot 0.
/// - `enrolled.luks2`: the same after `luksAddKey` for the slots 1 to 3, `luksAddKey --unbound` for slot 4, and `token import` of four
///   tokens: systemd-fido2, systemd-pkcs11, systemd-recovery, clevis.
/// - `old.luks1`: `cryptsetup luksFormat --type luks1`.
enum Headers {
    static func bytes(_ name: String) throws -> [UInt8] {
        let url = try #require(Bundle.module.url(forResource: "headers/\(name)", withExtension: nil))
        return Array(try Data(contentsOf: url))
    }

    /// Writes the checksum of one of the copies in a header of 16 KiB.
    static func sum(_ bytes: inout [UInt8], at offset: Int = 0) {
        for index in 448..<512 { bytes[offset + index] = 0 }
        bytes.replaceSubrange(
            offset + 448..<offset + 480, with: HashAlgorithm.sha256.hash(bytes[offset..<offset + 16384]))
    }

    /// A header whose first copy has this JSON, and no second copy.
    static func with(_ json: String) throws -> [UInt8] {
        var bytes = Array(try Headers.bytes("plain.luks2").prefix(16384))
        for index in 4096..<16384 { bytes[index] = 0 }
        bytes.replaceSubrange(4096..<4096 + json.utf8.count, with: Array(json.utf8))
        sum(&bytes)
        return bytes
    }
}

/// Headers of real volumes, damaged and hostile ones.
struct HeaderTests {
    @Test func aVolumeWithAPassphrase() throws {
        let header = try LUKS2Header(Headers.bytes("plain.luks2"))
        #expect(header.uuid == "0fc63daf-8483-4772-8e79-3d69d8477de4" && header.label == "disk")
        #expect(header.size == 16384 && !header.isOtherCopyStale && header.backupSize == 16 << 20)
        let metadata = header.metadata
        #expect(metadata.keyslots.map(\.number) == [0] && metadata.keyslots[0].kdf == "argon2id")
        #expect(metadata.keyslots[0].opensVolume && metadata.tokens.isEmpty)
        #expect(try metadata.freeKeyslot() == 1 && metadata.freeToken() == 0)
        #expect(throws: LUKSError.lastSlot(0)) { try metadata.checkRemovable(0) }
        #expect(throws: LUKSError.noSuchSlot(1)) { try metadata.checkRemovable(1) }
    }

    @Test func aVolumeWithTokens() throws {
        let header = try LUKS2Header(Headers.bytes("enrolled.luks2"))
        let metadata = header.metadata
        expect(metadata.keyslots.map(\.number), is: [0, 1, 2, 3, 4])
        expect(metadata.keyslots.map(\.opensVolume), is: [true, true, true, true, false])
        expect(metadata.tokens.map(\.type), is: ["systemd-fido2", "systemd-pkcs11", "systemd-recovery", "clevis"])
        expect(metadata.tokens.map(\.keyslots), is: [[1], [2], [3], [3]])
        expect(metadata.tokens.map(\.isOfKey), is: [true, true, false, false])
        #expect(metadata.tokens(of: 3).map(\.number) == [2, 3] && metadata.keyslot(2)?.kdf == "pbkdf2")
        guard case .fido2(let fido) = metadata.tokens[0].kind, case .pkcs11(let card) = metadata.tokens[1].kind else {
            Issue.record("\(metadata.tokens)")
            return
        }
        #expect(fido.credential == [1, 2, 3, 4] && fido.isVerified && fido.needsTouch)
        #expect(metadata.tokens[0].name == "YubiKey 5 NFC" && metadata.tokens[0].serial == "12345678")
        #expect(card.serial == "12345678" && card.slot == .keyManagement && card.key.count == 256)
        #expect(metadata.tokens[1].serial == "12345678" && metadata.tokens[2].kind == .recovery)
        expect(metadata.tokens[3].kind, is: .other)
        #expect(try metadata.freeKeyslot() == 5 && metadata.freeToken() == 4)
        try metadata.checkRemovable(0)
    }

    @Test("the newer copy counts, and one is enough") func copies() throws {
        let plain = try Headers.bytes("plain.luks2")
        let enrolled = try Headers.bytes("enrolled.luks2")
        let mixed = Array(enrolled.prefix(16384)) + plain.suffix(16384)
        #expect(try LUKS2Header(mixed).metadata.tokens.count == 4 && LUKS2Header(mixed).isOtherCopyStale)
        let reversed = Array(plain.prefix(16384)) + enrolled.suffix(16384)
        try expect(LUKS2Header(reversed).metadata.tokens.count, is: 4)
        var damaged = enrolled
        damaged[5000] ^= 1
        #expect(try LUKS2Header(damaged) == LUKS2Header(mixed) || LUKS2Header(damaged).isOtherCopyStale)
        damaged = enrolled
        for index in 0..<4096 { damaged[index] = 0 }
        try expect(LUKS2Header(damaged).metadata.tokens.count, is: 4)
        #expect(try LUKS2Header(Array(enrolled.prefix(16384))).isOtherCopyStale)
        damaged[16384 + 5000] ^= 1
        #expect(throws: LUKSError.notLUKS) { try LUKS2Header(damaged) }
    }

    @Test func otherFiles() throws {
        #expect(throws: LUKSError.version(1)) {
            try LUKS2Header(Headers.bytes("old.luks1") + [UInt8](repeating: 0, count: 4096))
        }
        for bytes in [[], [0x4C], Array("LUKS".utf8), [UInt8](repeating: 7, count: 40_000)] {
            #expect(throws: LUKSError.notLUKS) { try LUKS2Header(bytes) }
        }
        #expect(LUKS2Header.isLUKS(try Headers.bytes("old.luks1")) && !LUKS2Header.isLUKS([1, 2, 3]))
    }

    @Test("a length is checked before it is used") func hostileBinary() throws {
        let whole = Array(try Headers.bytes("plain.luks2").prefix(16384))
        func refused(_ change: (inout [UInt8]) -> Void) -> LUKSError? {
            var bytes = whole
            change(&bytes)
            Headers.sum(&bytes)
            do throws(LUKSError) { _ = try LUKS2Header(bytes) } catch { return error }
            return nil
        }
        expect(
            refused { for index in 8..<16 { $0[index] = 0xFF } }, is: .damaged("a header of 18446744073709551615 bytes")
        )
        expect(refused { for index in 8..<16 { $0[index] = 0 } }, is: .damaged("a header of 0 bytes"))
        expect(refused { $0[14] = 0x80 }, is: .damaged("its header ends after 16384 bytes"))
        expect(refused { $0[263] = 1 }, is: .damaged("a header at the wrong offset"))
        expect(refused { $0[72] = 0xFF }, is: .damaged("an unknown checksum algorithm"))
        expect(refused { $0[7] = 3 }, is: .version(3))
        expect(refused { $0[24] = 0xFF }, is: nil)
        var wrong = whole
        wrong[448] ^= 1
        #expect(throws: LUKSError.damaged("a wrong checksum")) { try LUKS2Header(wrong) }
    }

    @Test("hash functions of checksums", arguments: ["sha1", "SHA384", "sha512"]) func hashes(_ name: String) throws {
        var bytes = Array(try Headers.bytes("plain.luks2").prefix(16384))
        for index in Array(72..<104) + Array(448..<512) { bytes[index] = 0 }
        bytes.replaceSubrange(72..<72 + name.utf8.count, with: Array(name.utf8))
        let hash: HashAlgorithm = name == "sha1" ? .sha1 : name == "sha512" ? .sha512 : .sha384
        bytes.replaceSubrange(448..<448 + hash.digestSize, with: hash.hash(bytes))
        try expect(LUKS2Header(bytes).label, is: "disk")
    }

    @Test(
        "metadata that break the format",
        arguments: [
            "", "{", "[]", "null", #"{"keyslots":{}}"#, #"{"tokens":[]}"#, #"{"tokens":{}}"#,
            #"{"keyslots":{"x":{}},"tokens":{}}"#, #"{"keyslots":{"32":{}},"tokens":{}}"#,
            #"{"keyslots":{"-1":{}},"tokens":{}}"#, #"{"keyslots":{"01":{}},"tokens":{}}"#,
            #"{"keyslots":{},"tokens":{"0":{}}}"#, #"{"keyslots":{},"tokens":{"0":7}}"#,
            #"{"keyslots":{},"tokens":{"99999999999999999999":{"type":"x"}}}"#,
            #"{"keyslots":{},"tokens":{"0":{"type":"x","keyslots":[1]}}}"#,
            #"{"keyslots":{},"tokens":{"0":{"type":"x","keyslots":["99"]}}}"#,
            #"{"keyslots":{},"tokens":{},"digests":{"0":{"segments":["0"],"keyslots":["a"]}}}"#,
            #"{"keyslots":{},"tokens":{},"config":{"keyslots_size":"-1"}}"#,
            #"{"keyslots":{},"tokens":{},"config":{"keyslots_size":"9223372036854775807"}}"#,
        ]) func hostileMetadata(_ json: String) throws
    {
        #expect(throws: LUKSError.self) { try LUKS2Header(Headers.with(json)) }
    }

    @Test(
        "a token that systemd cannot use says why",
        arguments: [
            (#""type":"systemd-fido2""#, "the token has no fido2-credential in base64"),
            (#""type":"systemd-pkcs11","pkcs11-uri":"http:x","pkcs11-key":"AAAA""#, "it has no URI or no key"),
            (#""type":"systemd-pkcs11","pkcs11-uri":"pkcs11:id=%01","pkcs11-key":"*""#, "it has no URI or no key"),
        ]) func unusableTokens(_ members: String, _ reason: String) throws
    {
        let json = #"{"keyslots":{},"tokens":{"0":{"keyslots":["1"],\#(members)}}}"#
        let token = try #require(try LUKS2Header(Headers.with(json)).metadata.tokens.first)
        #expect(token.kind == .malformed(reason) && !token.isOfKey && token.keyslots == [1])
    }

    @Test func allNumbersTaken() throws {
        let slots = (0..<32).map { #""\#($0)":{"type":"luks2"}"# }.joined(separator: ",")
        let tokens = (0..<32).map { #""\#($0)":{"type":"x"}"# }.joined(separator: ",")
        let metadata = try LUKS2Header(Headers.with(#"{"keyslots":{\#(slots)},"tokens":{\#(tokens)}}"#)).metadata
        #expect(throws: LUKSError.full) { try metadata.freeKeyslot() }
        #expect(throws: LUKSError.full) { try metadata.freeToken() }
        #expect(metadata.keyslots.allSatisfy { !$0.opensVolume && $0.kdf == nil })
    }
}
