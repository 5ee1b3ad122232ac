// SPDX-License-Identifier: Apache-2.0

import Testing
import YKAge
import YKCrypto
import YKFIDO
import YKInventory
import YKLUKS
import YKPIV
import YKSSH
import YKTestSupport
import YKVirtualKey
import YKWire

/// Files and volumes that refer to keys, and which key finds itself there.
struct ReferenceTests {
    private func references(_ bytes: [UInt8], _ name: String = "file") throws -> [CredentialReference] {
        try CredentialReference.all(in: bytes, of: name, host: "host")
    }

    private func references(_ text: String) throws -> [CredentialReference] { try references(Array(text.utf8)) }

    /// A LUKS2 header with tokens.
    private func header(_ json: String, version: UInt8 = 2, size: Int = 16384) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16384)
        bytes.replaceSubrange(0..<8, with: Array("LUKS".utf8) + [0xBA, 0xBE, 0, version])
        for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: size >> (8 * (7 - index))) }
        bytes.replaceSubrange(72..<78, with: Array("sha256".utf8))
        let uuid = Array("0fc63daf-8483-4772-8e79-3d69d8477de4".utf8)
        bytes.replaceSubrange(168..<168 + uuid.count, with: uuid)
        let text = Array(json.utf8)
        bytes.replaceSubrange(4096..<4096 + text.count, with: text)
        bytes.replaceSubrange(448..<480, with: HashAlgorithm.sha256.hash(bytes))
        return bytes
    }

    private func token(_ credential: [UInt8], rpID: String = SystemdToken.defaultRPID) -> String {
        SystemdToken(
            rpID: rpID, credential: credential, salt: [UInt8](repeating: 0, count: 32), isVerified: false,
            needsTouch: true
        ).json(keyslot: 1).text
    }

    @Test func luks() async throws {
        let (first, second) = (try Bench(), try Bench(serial: 2))
        let ours = try await first.register(SystemdToken.defaultRPID).id
        let theirs = try await second.register(SystemdToken.defaultRPID).id
        let others = #""2":{"type":"systemd-recovery"},"3":{"type":"systemd-fido2"}"#
        let json = #"{"keyslots":{},"tokens":{"0":\#(token(ours)),"1":\#(token(theirs)),\#(others)}}"#
        let volume = try references(header(json))
        #expect(volume.count == 2 && volume[0].item.target == "0fc63daf-8483-4772-8e79-3d69d8477de4")
        try expect(references(json).map(\.item.target), is: ["file", "file"])
        let found = try await first.read(volume).inventory.items(.luks)
        expect(found, is: [volume[0].item])
        try await expect(second.read(volume).inventory.items(.luks), is: [volume[1].item])
        let comparison = InventoryComparison(
            of: try await first.read(volume).inventory, with: try await second.read(volume).inventory)
        expect(comparison.rows.map(\.verdict), is: [.own])
        let third = try await Bench(serial: 3).read(volume).inventory
        #expect(
            InventoryComparison(of: try await first.read(volume).inventory, with: third).rows.map(\.verdict)
                == [.missing])
    }

    @Test("tokens for PKCS#11 are found by the serial number in their URI") func pkcs11() async throws {
        func volume(_ uri: String) throws -> [CredentialReference] {
            try references(
                #"{"tokens":{"0":{"type":"systemd-pkcs11","keyslots":["2"],"pkcs11-uri":"\#(uri)","pkcs11-key":"AAAA"}}}"#
            )
        }
        let own = try volume("pkcs11:model=YubiKey%20YK5;token=YubiKey%20PIV%20%231;id=%09;type=private")
        expect(own.map(\.test), is: [.serial("1")])
        try await expect(Bench().read(own).inventory.items(.luks).count, is: 1)
        #expect(try await Bench(serial: 2).read(own).inventory.items(.luks).isEmpty)
        for uri in [
            "pkcs11:token=x", "pkcs11:id=%09", "pkcs11:token=YubiKey%20%23x", "pkcs11:token=YubiKey%20%23",
        ] {
            try expect(volume(uri).map(\.test), is: [.none])
        }
        #expect(try volume("x").isEmpty)
        let unknown = try await Bench().read(try volume("pkcs11:id=%09")).inventory
        #expect(unknown.gaps.contains(Inventory.Gap(.luks, .unknown)) && unknown.items.isEmpty)
    }

    @Test func damagedVolumes() throws {
        #expect(throws: ReferenceError.volume(.version(1))) { try references(header("{}", version: 1)) }
        #expect(throws: ReferenceError.volume(.damaged("a header of 5242880 bytes"))) {
            try references(header("{}", size: 5 << 20))
        }
        #expect(throws: ReferenceError.volume(.notLUKS)) { try references(header("{}")) }
        #expect(throws: ReferenceError.unknownKind) { try references("{}") }
        #expect(throws: ReferenceError.volume(.damaged("token 0 has no type"))) {
            try references(#"{"tokens":{"0":{}}}"#)
        }
        #expect(throws: ReferenceError.self) { try references("{") }
        #expect(throws: ReferenceError.volume(.notLUKS)) { try references(Array(header("{}").prefix(100))) }
    }

    @Test func ssh() async throws {
        let bench = try Bench()
        try await bench.setPIN()
        let made = try await bench.register("ssh:", isResident: true)
        let key = try #require(SSHPublicKey(cose: made.key, application: "ssh:"))
        let file = SecurityKeyFile(publicKey: key, flags: [.touchRequired], handle: made.id, comment: "alice")
        let found = try references(file.text(check: 1))
        #expect(found.map(\.item.target) == ["ssh:"] && found[0].item.name == "\(key.fingerprint) (file)")
        try await expect(bench.read(found).inventory.items(.ssh), is: [found[0].item])
        #expect(try await Bench(serial: 2).read(found).inventory.items(.ssh).isEmpty)
        // The key lists it itself, once.
        try await expect(bench.read(found, pin: Bench.pin).inventory.items(.ssh).count, is: 1)
        #expect(throws: ReferenceError.self) { try references("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n") }
    }

    @Test("an encrypted key file does not tell its credential") func encryptedSSH() async throws {
        let key = try #require(SSHPublicKey(cose: try await Bench().register("ssh:").key, application: "ssh:"))
        let file = SecurityKeyFile(publicKey: key, flags: [], handle: [1], comment: "")
        let text = try file.text(check: 1, passphrase: secret("x"), salt: [UInt8](repeating: 0, count: 16))
        let found = try references(text)
        expect(found.map(\.test), is: [.none])
        #expect(try await Bench().read(found).inventory.gaps.contains(Inventory.Gap(.ssh, .unknown)))
    }

    @Test func pamU2F() async throws {
        let bench = try Bench()
        try await bench.setPIN()
        let (rpID, plain) = ("pam://host", try await bench.register("pam://host").id)
        let stored = try await bench.register(rpID, isResident: true)
        let key = try #require(PAMU2FEntry.publicKey(stored.key)?.bytes)
        let text = """
            alice:old,key,es256,+presence
            # nothing
            bob:\(Base64.encode([9])),AAAA,es256,+presence:!,
            alice:\(Base64.encode(plain)),AAAA,es256,+presence:*,\(Base64.encode(key)),es256,+presence:*

            """
        let found = try references(text)
        expect(found.map(\.item.name), is: ["bob", "alice", "alice", "alice"])
        #expect(found.map(\.item.target).last == "alice pam://host" && found[3].test == .none)
        let silent = try await bench.read(found).inventory
        expect(silent.items(.pamU2F), is: [found[1].item])
        #expect(silent.gaps.contains(Inventory.Gap(.pamU2F, .unknown)))
        let whole = try await bench.read(found, pin: Bench.pin).inventory
        expect(whole.items(.pamU2F), is: [found[1].item, found[2].item])
    }

    @Test func ageKeys() async throws {
        let bench = try Bench()
        let slot = try #require(PIVSlot.retired.first)
        let key = try #require(AgePublicKey(try await bench.generate(slot)))
        guard case .p256(let point) = key else { throw ReferenceError.unknownKind }
        let credential = try await bench.register(AgeCredential.rpID).id
        let reference = try AgeCredential(salt: [UInt8](repeating: 3, count: 32), id: credential, isVerified: false)
        let lines = [
            "# recipients", key.recipient.text(), AgeRecipient.pivP256(point).text(),
            AgeRecipient.x25519([UInt8](repeating: 9, count: 32)).text(),
            AgeRecipient.fido2(reference, publicKey: [UInt8](repeating: 1, count: 32)).text(), "age1nonsense",
        ]
        let found = try references(lines.joined(separator: "\n"))
        #expect(found.count == 4 && found.allSatisfy { $0.item.target == "file" })
        let own = try await bench.read(found).inventory.items(.age)
        expect(own.count, is: 3, "the slot's key, its recipient of this file, and the credential")
        let identities = [
            AgeIdentity.slot(0x82, serial: 1, key: key).text, AgeIdentity.yubikey(0x82, serial: 1, tag: key.tag).text,
            AgeIdentity.fido2(reference, publicKey: nil).text, AgeIdentity.any.text,
        ]
        let named = try references(identities.joined(separator: "\r\n"))
        expect(
            named.map(\.test), is: [.ageKey(key), .ageTag(key.tag), .credential(credential, rpID: AgeCredential.rpID)])
        try await expect(bench.read([named[1]]).inventory.items(.age).count, is: 2)
        #expect(try await Bench(serial: 2).read(named).inventory.items(.age).isEmpty)
    }

    @Test func ageFiles() async throws {
        let bench = try Bench()
        let slot = try #require(PIVSlot.retired.first)
        let key = try #require(AgePublicKey(try await bench.generate(slot)))
        let credential = try await bench.register(AgeCredential.rpID).id
        let reference = try AgeCredential(salt: [UInt8](repeating: 3, count: 32), id: credential, isVerified: false)
        let x25519 = try PrivateKey(x25519: Secret([UInt8](repeating: 5, count: 32)))
        guard case .x25519(let share) = x25519.publicKey else { throw ReferenceError.unknownKind }
        let recipients = [
            key.recipient, .x25519(share), .fido2(reference, publicKey: share),
        ]
        var file = Array("age-encryption.org/v1\n".utf8)
        for recipient in recipients {
            let wrapping = try AgeWrapping(
                Secret([UInt8](repeating: 1, count: 16)), for: recipient,
                ephemeral: Secret([UInt8](repeating: 2, count: 32)))
            file += wrapping.stanza.encoded
        }
        #expect(throws: ReferenceError.malformed("the header of the file is truncated")) {
            try references(Array(file.dropLast()))
        }
        file += Array("--- AAAA\n".utf8) + [0, 1, 2]
        let found = try references(file)
        expect(found.count, is: 2)
        try await expect(
            bench.read(found).inventory.items(.age).map(\.target).sorted(), is: ["file", "file", "recipient"])
        try expect(references(Array(PEM.encode("AGE ENCRYPTED FILE", file).utf8)).count, is: 2)
        #expect(throws: ReferenceError.self) { try references("age-encryption.org/v1\n-> X25519 !\n--- x\n") }
    }

    @Test func otherFiles() throws {
        #expect(try references("").isEmpty && references("# comment\n").isEmpty)
        for text in ["hello", "a:b"] {
            #expect(throws: ReferenceError.unknownKind) { try references(text) }
        }
        #expect(throws: ReferenceError.unknownKind) { try references([0xFF, 0xFF]) }
    }
}
