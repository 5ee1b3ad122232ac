// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKWire

@testable import YKOpenPGP

/// Reads what real cards said, as published.
struct StatusTests {
    /// Application related data of a YubiKey 5.4.3.
    static let device =
        "6e8201374f10d27600012401030400062385277400005f520800730000e00590007f740381012073820110c00a7d000bfe"
        + "080000ff0000c106010800001100c206010800001100c306010800001100da06010800001100c407017f7f7f030003c550"
        + String(repeating: "00", count: 60) + "e9f5079a2003e46930c0d9c24a4e3318fdcbcf67c650"
        + String(repeating: "00", count: 80)
        + "cd10000000000000000000000000624d7083de0801000200030081027f660802020bfe02020bfed6020020d7020020d8020020d902"
        + "0020"

    @Test func readsARecordedCard() throws {
        let status = try OpenPGPStatus(decoding: Hex.decode(Self.device))
        #expect(status.identity.version == "3.4" && status.identity.manufacturerName == "Yubico")
        expect(status.identity.serial, is: "23852774")
        #expect(!status.pins.signatureNeedsPIN && status.pins.retries == (3, 0, 3))
        #expect(status.pins.limits == (127, 127, 127) && status.supportsKDF && status.supportsImport)
        expect(status.keys.map(\.slot), is: [.signature, .decryption, .authentication, .attestation])
        #expect(status.keys.allSatisfy { $0.algorithm == .rsa(bits: 2048) && $0.touch?.description == "off" })
        expect(status.keys.map(\.origin?.description), is: ["none", "none", "none", "imported"])
        #expect(status.keys[0].fingerprint == nil && status.keys[0].created == nil)
        expect(status.keys[3].created, is: 0x624d_7083)
        expect(status.keys[3].fingerprint.map { Hex.encode($0) }, is: "e9f5079a2003e46930c0d9c24a4e3318fdcbcf67")
    }

    @Test(arguments: [
        ("d2760001240103040006123456780000", "12345678", "Yubico"),
        ("d276000124010304000fbce9dee10000", "bce9dee1", "Nitrokey"),
        ("d27600012401030400060a2b3c4d0000", "0a2b3c4d", "Yubico"),
    ])
    func readsIdentifiers(_ aid: String, _ serial: String, _ maker: String) throws {
        let identity = try OpenPGPIdentity(aid: Hex.decode(aid))
        #expect(identity.serial == serial && identity.manufacturerName == maker && identity.version == "3.4")
    }

    @Test(arguments: [
        ("162b06010401da470f01", "ed25519"), ("122b060104019755010501", "x25519"), ("132a8648ce3d030107", "ecc-p256"),
        ("132b81040022ff", "ecc-p384"), ("132b8104000a", "secp256k1"), ("122b240303020801010b", "brainpoolP384r1"),
        ("010c00001100", "rsa3072"), ("0108", "unknown"), ("", "unknown"),
    ])
    func readsAttributes(_ bytes: String, _ name: String) throws {
        expect(OpenPGPAlgorithm(attributes: try Hex.decode(bytes)).description, is: name)
    }

    @Test func readsTheCardholder() throws {
        let related =
            try Hex.decode("6516") + [0x5B, 11] + Array("Doe<<Jane<X".utf8) + [0x5F, 0x2D, 2]
            + Array("de".utf8) + [0x5F, 0x35, 1, 0x32]
        let holder = try OpenPGPCardholder(related: related, login: Array("jane\n\u{14}F=3".utf8), url: [])
        #expect(holder.name == "Jane X Doe" && holder.languages == ["de"] && holder.login == "jane")
        expect(holder.url, is: nil)
    }

    /// Every truncation and changed byte of a recorded reply is an error or a value, never a trap.
    @Test func hostileReplies() throws {
        let bytes = try Hex.decode(Self.device)
        for end in bytes.indices { _ = try? OpenPGPStatus(decoding: Array(bytes[..<end])) }
        for place in bytes.indices {
            for value in [UInt8(0), 1, 0x7F, 0x80, 0x84, 0xFF] {
                var changed = bytes
                changed[place] = value
                _ = try? OpenPGPStatus(decoding: changed)
                _ = try? OpenPGPCardholder(related: changed, login: changed, url: changed)
                _ = try? OpenPGPKDF(decoding: changed)
            }
        }
    }
}

/// The derivation of what is sent in place of a PIN.
struct KDFTests {
    @Test(arguments: [
        (
            "8101038201088304000186a0840830313233343536378508404142434445464786085051525354555657", "123456",
            "12345678",
            "773784a602b6c81e3f092f4d7d00e17cc822d88f7360fcf2d2ef2d9d901f44b6",
            "b9e46b0528f9eb63fa06ffc5cfadd5cef1f05fcf8dd1b4dd94a496a1f0bce1c7"
        ),
        (
            "81010382010a8304000186a08408abababababababab8508abababababababab8608abababababababab", "123456",
            "12345678",
            "c6a8ae5ea8adf3cc733df4212bfd595098f4b9998b8c06ed38f5e281625d618b56ccd4dac0c91d287873caa38599c333a27eec31"
                + "33b622719dcee8f18b2da073",
            "4697ac90356e37c9e1f7097d3a5721b75986af308920304b110cb6a7775a8a852de7d3b913a92f45afc1fc5ce87b9a4ae3227de8"
                + "f4f1aa03c841fd32f10b000f"
        ),
    ])
    func hashesPINs(_ object: String, _ pin: String, _ admin: String, _ user: String, _ second: String) throws {
        let kdf = try #require(try OpenPGPKDF(decoding: Hex.decode(object)))
        expect(Hex.encode(kdf.derive(Secret(utf8: pin), .user).copyBytes()), is: user)
        expect(Hex.encode(kdf.derive(Secret(utf8: admin), .admin).copyBytes()), is: second)
    }

    @Test func knowsWhenThereIsNone() throws {
        for object in ["", "810100", "f903810100"] { try expect(OpenPGPKDF(decoding: Hex.decode(object)), is: nil) }
    }

    @Test(arguments: [
        "8101048201088304000186a084083031323334353637", "8101038201098304000186a084083031323334353637",
        "81010382010883040000000184083031323334353637", "810103820108830480000000" + "84083031323334353637",
        "8101038201088304000186a0",
    ])
    func refusesOthers(_ object: String) {
        #expect(throws: WireError.self) { try OpenPGPKDF(decoding: Hex.decode(object)) }
    }
}

/// The service on a card that answers as a recorded one did.
struct ServiceTests {
    private static func open(_ version: [UInt8] = [5, 4, 3, 0x90, 0]) async throws -> OpenPGPService {
        let status = try Hex.decode(StatusTests.device)
        let link = ScriptedLink { command in
            switch Hex.encode(command.prefix(4)) {
            case "00a40400": [0x90, 0]
            case "00ca006e": status + [0x90, 0]
            case "00ca007a": [0x7A, 5, 0x93, 3, 0, 1, 2, 0x90, 0]
            case "00ca00f9": [0x81, 1, 0, 0x90, 0]
            case "00f10000": version
            case "00ca0065": [0x65, 9, 0x5B, 0, 0x5F, 0x2D, 0, 0x5F, 0x35, 1, 0x39, 0x90, 0]
            case "00ca005e", "00ca5f50": [0x90, 0]
            default: [0x6D, 0]
            }
        }
        return try await OpenPGPService.open(
            CardChannel(link: link, environment: ServiceEnvironment(timeout: .seconds(5))))
    }

    @Test func readsEverything() async throws {
        let service = try await Self.open()
        try await expect(service.status().identity.serial, is: "23852774")
        try await expect(service.signatureCount(), is: 258)
        try await expect(service.kdf(), is: nil)
        try await expect(service.firmware(), is: FirmwareVersion(5, 4, 3))
        try await expect(service.report().cardholder.name, is: nil)
        try await expect(Self.open([0x6D, 0]).firmware(), is: nil)
    }

    @Test func aTerminatedApplicationIsToldOf() async throws {
        await #expect(throws: OpenPGPError.terminated) {
            let link = ScriptedLink { _ in [0x62, 0x85] }
            return try await OpenPGPService.open(CardChannel(link: link))
        }
    }
}
