// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The OpenPGP application, command by command.
struct OpenPGPAppletTests {
    private static let user = "0020008106313233343536"
    private static let other = "0020008206313233343536"
    private static let admin = "00200083083132333435363738"

    private func key(_ version: FirmwareVersion = FirmwareVersion(5, 7, 4)) throws -> Bench {
        let bench = Bench(version: version, select: false)
        try expect(bench.select(.openPGP), is: "9000")
        return bench
    }

    private func card() throws -> Bench { try Bench(model: .openPGP, aid: .openPGP) }

    private func status(_ bench: Bench) throws -> String { try bench.send("00ca00c400") }

    @Test("a YubiKey has the tags before its templates, another card has not")
    func templates() throws {
        let key = try key()
        try expect(key.send("00ca006500"), is: "65095b005f2d005f3501399000")
        try expect(key.send("00ca007a00"), is: "7a0593030000009000")
        try expect(key.send("00ca7f7400"), is: "7f74038101209000")
        try expect(key.send("00ca004f00"), is: "d2760001240103040006169090600000" + "9000")
        try expect(status(key), is: "017f7f7f0300039000")
        #expect(try key.send("00ca00c000") == "6b00" && key.send("00f10000") == "0507049000")
        let card = try card()
        try expect(card.send("00ca006500"), is: "5b005f2d005f3501399000")
        try expect(card.send("00ca007a00"), is: "93030000009000")
        #expect(try card.send("00ca00ca00") == "6a88" && card.send("00f10000") == "6d00")
        try expect(status(card), is: "007f7f7f0300039000")
        try expect(card.send("00ca5f5200"), is: "0031f573c001600590009000")
    }

    @Test("the two latches of the user PIN are two")
    func latches() throws {
        let key = try key()
        try expect(key.send("00200081"), is: "63c3")
        #expect(try key.send(Self.other) == "9000" && key.send(Self.user) == "9000")
        #expect(try key.send("00200081") == "9000" && key.send("00200082") == "9000")
        try expect(key.send("00200083"), is: "63c3")
        #expect(try key.send("0020ff82") == "9000" && key.send("00200082") == "63c3")
        try expect(key.send("00200081"), is: "9000")
        #expect(try key.send("00200084") == "6b00" && card().send("00200084") == "6a86")
        try expect(self.key(FirmwareVersion(5, 4, 3)).send("0020ff82"), is: "6b00")
    }

    @Test("wrong PINs cost tries, each maker in its own words; short ones cost none")
    func wrong() throws {
        let key = try key()
        #expect(try key.send("00200081053132333435") == "6a80" && status(key).hasPrefix("017f7f7f03"))
        for left in ["02", "01", "00"] {
            #expect(try key.send("0020008106363534333231") == "6982" && status(key).hasPrefix("017f7f7f" + left))
        }
        #expect(try key.send(Self.user) == "6983" && key.send("00200081") == "63c0")
        #expect(try key.send(Self.admin) == "9000" && key.send("002c028106313233343536") == "9000")
        try expect(key.send(Self.user), is: "9000")
        let card = try card()
        try expect(card.send("0020008106363534333231"), is: "63c2")
        #expect(try card.send("00200081053132333435") == "6700" && card.send(Self.user) == "9000")
    }

    @Test("what only YubiKeys do, and what only Gnuk does")
    func makers() throws {
        let old = try key(FirmwareVersion(5, 4, 3))
        #expect(try old.send("00200081") == "6a80" && old.send("00200083") == "6a80")
        #expect(try old.send(Self.admin) == "9000" && old.send("00e60000") == "9000" && old.send("00440000") == "9000")
        try expect(old.send("00da00d3083837363534333231"), is: "9000")
        // A key on Curve25519 attests nothing.
        try expect(old.send("00da00da0a" + "162b06010401da470f01"), is: "9000")
        #expect(try old.send("0047800005b60384018100").hasSuffix("9000"))
        try expect(old.send("00da00c109" + "132a8648ce3d030107"), is: "9000")
        #expect(try old.send("0047800002b60000").hasSuffix("9000") && old.send(Self.user) == "9000")
        try expect(old.send("80fb0100"), is: "6985")
        let card = try card()
        #expect(try card.send(Self.admin) == "9000" && card.send("00e60000") == "9000")
        #expect(try card.send("00ca00c400") == "6985" && card.send("00440000") == "9000")
        try expect(card.send("00da00d3083837363534333231"), is: "6982")
        let gnuk = try Bench(model: .gnuk, aid: .openPGP)
        #expect(try gnuk.send("00200083083938393839383938") == "6982" && gnuk.send(Self.admin) == "9000")
        #expect(try gnuk.send("00e60000") == "9000" && gnuk.send("00ca00c400") == "6285")
    }

    @Test("a FIPS key takes no trivial PINs, and none of less than 8 characters")
    func complexity() throws {
        let key = try key()
        key.card.state.profile.formFactor = 0x81
        try expect(key.send("002400810e3132333435363131313131313131"), is: "6985")
        try expect(key.send("002400810c313233343536383439323137"), is: "6985")
        try expect(key.send("002400810e3132333435363834393231373331"), is: "9000")
        try expect(key.send("00240083103132333435363738" + "70617373776f7264"), is: "6985")
        #expect(try key.send(Self.admin) == "9000" && key.send("00da00d3083131313131313131") == "6985")
        try expect(key.send("002c0281083131313131313131"), is: "6985")
        #expect(try status(key).hasPrefix("017f7f7f030003"))
    }

    @Test("PINs are changed, and the user PIN is set again by reset code or admin PIN")
    func change() throws {
        let key = try key()
        try expect(key.send("002400810c313233343536363534333231"), is: "9000")
        #expect(try key.send(Self.user) == "6982" && key.send("0020008106363534333231") == "9000")
        try expect(key.send("002400810a36353433323131323334"), is: "6a80")
        #expect(try status(key).hasPrefix("017f7f7f030003"))
        try expect(key.send("002c008106313233343536"), is: "6a80")
        #expect(try key.send("00da00d3083132333435363738") == "6982" && key.send(Self.admin) == "9000")
        #expect(try key.send("00da00d30731323334353637") == "6a80" && key.send("00da00d300") == "6a80")
        #expect(try key.send("00da00d3083837363534333231") == "9000" && status(key).hasPrefix("017f7f7f030303"))
        try expect(key.send("002c00810e3131313131313131313233343536"), is: "6982")
        #expect(try status(key).hasPrefix("017f7f7f030203"))
        try expect(key.send("002c00810e3837363534333231313233343536"), is: "9000")
        #expect(try key.send(Self.user) == "9000" && status(key).hasPrefix("017f7f7f030303"))
    }

    @Test("the counts of tries are set, that of a reset code shows once there is one")
    func retries() throws {
        let key = try key()
        #expect(try key.send("00f20000030b0c0d") == "6982" && key.send(Self.admin) == "9000")
        #expect(try key.send("00f2000003000c0d") == "6a80" && key.send("00f20000020b0c") == "6a80")
        #expect(try key.send("00f200000305001f") == "9000" && status(key).hasPrefix("017f7f7f05001f"))
        #expect(try key.send("00f20000030b0c0d") == "9000" && status(key).hasPrefix("017f7f7f0b000d"))
        #expect(try key.send("00da00d3083837363534333231") == "9000" && status(key).hasPrefix("017f7f7f0b0c0d"))
    }

    @Test("data objects are read and written by whom the card lets")
    func access() throws {
        for bench in [try key(), try card()] {
            #expect(try bench.send("00da010101aa") == "6982" && bench.send("00da005e01aa") == "6982")
            #expect(try bench.send(Self.other) == "9000" && bench.send("00da010101aa") == "9000")
            #expect(try bench.send("00da010301bb") == "9000" && bench.send("00ca010300") == "bb9000")
            #expect(try bench.send("00da010201aa") == "6982" && bench.send("00ca010400") == "6982")
            #expect(try bench.send("0020ff82") == "9000" && bench.send("00ca010300") == "6982")
            #expect(try bench.send(Self.admin) == "9000" && bench.send("00da010401cc") == "9000")
            #expect(try bench.send("00ca010400") == "cc9000" && bench.send("00da010101aa") == "6982")
            #expect(try bench.send("00da005e01aa") == "9000" && bench.send("00ca005e00") == "aa9000")
            #expect(try bench.send("00da5f350133") == "6a80" && bench.send("00da5f2d03646566") == "6700")
            #expect(try bench.send("00da00c40101") == "9000" && status(bench).hasPrefix("01"))
            try expect(bench.send("00da00c40102"), is: "6a80")
        }
    }

    @Test("three certificates are chosen by SELECT DATA and GET NEXT DATA")
    func certificates() throws {
        let key = try key()
        #expect(try key.send(Self.admin) == "9000" && key.send("00da7f2101a0") == "9000")
        #expect(try key.send("00a5020406" + "60045c027f21") == "9000" && key.send("00da7f2101a2") == "9000")
        #expect(try key.send("00a5000406" + "60045c027f21") == "9000" && key.send("00ca7f2100") == "a09000")
        #expect(try key.send("00cc7f2100") == "9000" && key.send("00cc7f2100") == "a29000")
        #expect(try key.send("00cc7f2100") == "6a80" && key.send("00a5030406" + "60045c027f21") == "6a88")
        let old = try self.key(FirmwareVersion(5, 4, 3))
        try expect(old.send("00a5000406" + "60045c027f21"), is: "6a80")
        try expect(old.send("00a5000407" + "0660045c027f21"), is: "9000")
        let card = try card()
        #expect(try card.send("00a5020406" + "60045c027f21") == "9000" && card.send("00cc7f2100") == "6a88")
    }

    @Test("algorithm information lists what can be set, as the firmware tells it")
    func algorithms() throws {
        let old = try key(FirmwareVersion(5, 4, 3)).send("00ca00fa000000")
        #expect(old.hasPrefix("fa8201e2c106010800001100") && old.hasSuffix("da0b162b0601040197550105019000"))
        let new = try Hex.decode(String(try key().send("00ca00fa000000").dropLast(4)))
        try expect(TLV.list(TLV.list(new).value(0xFA) ?? []).filter { $0.tag == 0xC2 }.count, is: 11)
        let card = try Hex.decode(String(try card().send("00ca00fa000000").dropLast(4)))
        try expect(TLV.list(card).first?.value, is: [0x01, 0x08, 0x00, 0x00, 0x20, 0x00])
    }

    @Test("attributes delete the key they replace, and are refused when the slot cannot have them")
    func attributes() throws {
        let key = try key()
        #expect(try key.send("0047810002b60000") == "6581" && key.send(Self.admin) == "9000")
        #expect(try key.send("00da00c10a" + "162b06010401da470f01").hasSuffix("9000"))
        let made = try key.send("0047800002b60000")
        #expect(made.hasPrefix("7f49228620") && made.hasSuffix("9000"))
        try expect(key.send("0047810005b60384010100"), is: made)
        #expect(try key.send("00da00c10a" + "162b06010401da470f01") == "9000" && key.send("0047810002b60000") == made)
        #expect(try key.send("00da00c109" + "132a8648ce3d030107") == "9000" && key.send("0047810002b60000") == "6581")
        try expect(card().send("0047810002b60000"), is: "6a88")
        for bad in ["132a8648ce3d030108", "122a8648ce3d030107", "010400001100"] {
            try expect(key.send("00da00c1" + Hex.encode([UInt8(bad.utf8.count / 2)]) + bad), is: "6a80")
        }
        try expect(key.send("00da00c20a" + "162b06010401da470f01"), is: "6a80")
    }

    @Test("a signature ends the verification where each requires the PIN, and is counted")
    func signs() throws {
        let card = try card()
        try expect(card.send(Self.admin), is: "9000")
        try expect(card.send("00da00c109" + "132a8648ce3d030107"), is: "9000")
        let made = try card.send("0047800002b60000")
        let point = try Hex.decode(String(made.dropFirst(10).dropLast(4)))
        let digest = [UInt8](repeating: 0x5A, count: 32)
        let sign = "002a9e9a20" + Hex.encode(digest) + "00"
        #expect(try card.send(sign) == "6982" && card.send(Self.other) == "9000" && card.send(sign) == "6982")
        try expect(card.send(Self.user), is: "9000")
        let signature = try Hex.decode(String(try card.send(sign).dropLast(4)))
        #expect(signature.count == 64 && point.count == 65)
        let numbers = [signature.prefix(32), signature.suffix(32)].map { half -> [UInt8] in
            let digits = Array(half.drop { $0 == 0 })
            return TLV(0x02, (digits.first ?? 0) & 0x80 != 0 ? [0] + digits : digits).encoded
        }
        let der = TLV(0x30, Array(numbers.joined())).encoded
        expect(PublicKey.ec(.p256, point: point).isResult(der, of: digest), is: true)
        #expect(try card.send(sign) == "6982" && card.send("00ca007a00") == "93030000019000")
        #expect(try card.send(Self.user) == "9000" && card.send("002a9e9a02aabb00") == "6a80")
        try expect(card.send("002a9e9b02aabb00"), is: "6a86")
    }

    @Test("imported keys are those that were imported; wrong parts are refused")
    func imports() throws {
        let key = try key()
        let scalar = String(repeating: "ab", count: 32)
        try expect(key.send("00db3fff2c4d2ab8007f480292205f4820" + scalar), is: "6982")
        try expect(key.send(Self.admin), is: "9000")
        try expect(key.send("00da00c20b" + "122b060104019755010501"), is: "9000")
        try expect(key.send("00db3fff2c4d2ab8007f480292205f4820" + scalar), is: "9000")
        let own = try PrivateKey(x25519: Secret([UInt8](repeating: 0xAB, count: 32)))
        guard case .x25519(let point) = own.publicKey else { return #expect(Bool(false)) }
        try expect(key.send("0047810002b80000"), is: "7f49228620" + Hex.encode(point) + "9000")
        try expect(key.send("00ca00de00"), is: "010002020300" + "8102" + "9000")
        let peer = try PrivateKey(x25519: Secret([UInt8](repeating: 0x11, count: 32)))
        guard case .x25519(let other) = peer.publicKey else { return #expect(Bool(false)) }
        let decipher = "002a808627a6257f49228620" + Hex.encode(other) + "00"
        #expect(try key.send(decipher) == "6982" && key.send(Self.other) == "9000")
        let shared = try own.shared(with: peer.publicKey).value.copyBytes()
        try expect(key.send(decipher), is: Hex.encode(shared) + "9000")
        for bad in [
            "4d2ab8007f480292215f4820" + scalar, "4d2ab8007f480293205f4820" + scalar, "4d02b800", "4d00",
            "4d2ab7007f480292205f4820" + scalar,
        ] {
            try expect(key.send("00db3fff" + Hex.encode([UInt8(bad.utf8.count / 2)]) + bad), is: "6a80")
        }
        try expect(key.send("00db3ffe024d00"), is: "6b00")
    }

    @Test("touch policies: those that are fixed stay")
    func touch() throws {
        let key = try key()
        #expect(try key.send("00ca00d600") == "00209000" && key.send("00da00d6020120") == "6982")
        #expect(try key.send(Self.admin) == "9000" && key.send("00da00d6020520") == "6a80")
        #expect(try key.send("00da00d6020320") == "9000" && key.send("00da00d6020220") == "9000")
        #expect(try key.send("00da00d6020020") == "6600" && key.send("00ca00d600") == "02209000")
        let card = try card()
        #expect(try card.send(Self.admin) == "9000" && card.send("00da00d6020320") == "6a80")
        #expect(try card.send("00da00d6020220") == "9000" && card.send("00da00d6020020") == "6983")
    }

    @Test("a key that requires a touch waits, and ends without one")
    func waits() throws {
        let key = try key()
        #expect(try key.send(Self.admin) == "9000" && key.send("00da00c30a" + "162b06010401da470f01") == "9000")
        #expect(try key.send("0047800002a40000").hasSuffix("9000") && key.send("00da00d8020120") == "9000")
        try expect(key.send(Self.other), is: "9000")
        key.inputs.touch = { _ in .pending }
        expect(key.exchange(try Hex.decode("0088000003616263" + "00")), is: nil)
        key.inputs.touch = { _ in .notTouched }
        try expect(key.send("0088000003616263" + "00"), is: "6600")
        key.inputs.touch = { $0 == Array("OpenPGP authentication".utf8) ? .touched : .notTouched }
        #expect(try key.send("0088000003616263" + "00").hasSuffix("9000"))
    }

    @Test("a terminated application has to be activated, and is that of a new card then")
    func reset() throws {
        let key = try key()
        #expect(try key.send("00e60000") == "6982" && key.send(Self.admin) == "9000")
        #expect(try key.send("00da005e01aa") == "9000" && key.send("00e60000") == "9000")
        #expect(try key.send("00ca005e00") == "6985" && key.select(.openPGP) == "6285")
        #expect(try key.send("00440000") == "9000" && key.send("00ca005e00") == "9000")
        #expect(try key.send("00ca00fc000000").count > 200)
        for _ in 0..<3 {
            for pin in ["81", "83"] { _ = try key.send("002000\(pin)08" + String(repeating: "00", count: 8)) }
        }
        #expect(try key.send("00e60000") == "9000" && key.send("00440000") == "9000")
        try expect(status(key), is: "017f7f7f0300039000")
    }

    @Test("a YubiKey takes the PINs of a key derivation, another card stores it only")
    func derivation() throws {
        let object =
            "81010382010883040001000084083031323334353637" + "8720" + String(repeating: "11", count: 32) + "8820"
            + String(repeating: "22", count: 32)
        let put = "00da00f95a" + object
        let (key, card) = (try key(), try card())
        for bench in [key, card] {
            #expect(try bench.send("00ca00f900") == "8101009000" && bench.send(put) == "6982")
            #expect(try bench.send(Self.admin) == "9000" && bench.send(put) == "9000")
            try expect(bench.send("00ca00f900"), is: object + "9000")
        }
        #expect(try card.send(Self.user) == "9000" && key.send(Self.user) == "6982")
        try expect(key.send("0020008120" + String(repeating: "11", count: 32)), is: "9000")
        try expect(key.send("00da00f9038101" + "01"), is: "6a80")
        #expect(try key.send("00da00f903810100") == "9000" && key.send(Self.user) == "9000")
    }

    @Test("a statement is made of keys that were generated here, with the user PIN")
    func attests() throws {
        let key = try key()
        #expect(try key.send("80fb0100") == "6982" && key.send(Self.user) == "9000")
        #expect(try key.send("80fb0100") == "6985" && key.send(Self.admin) == "9000")
        try expect(key.send("00da00c109" + "132a8648ce3d030107"), is: "9000")
        #expect(try key.send("0047800002b60000").hasSuffix("9000"))
        #expect(try key.send("00fb0100") == "6e00" && key.send("80fb8100") == "6b00" && key.send("80fb0100") == "9000")
        try expect(key.send("00a5020406" + "60045c027f21"), is: "9000")
        let statement = try key.send("00ca7f21000000")
        #expect(statement.hasPrefix("3082") && statement.contains("2b0601040182c40a0502"))
        try expect(card().send("80fb0100"), is: "6d00")
    }

    @Test("AES: a plain card enciphers and deciphers under the key of D5")
    func aes() throws {
        let card = try card()
        #expect(try card.send(Self.admin) == "9000" && card.send("00da00d503aabbcc") == "6a80")
        try expect(card.send("00da00d510" + String(repeating: "00", count: 16)), is: "9000")
        try expect(card.send("00ca00d500"), is: "6a88")
        let block = String(repeating: "00", count: 16)
        #expect(try card.send("002a868010" + block + "00") == "6982" && card.send(Self.other) == "9000")
        let result = try card.send("002a868010" + block + "00")
        expect(result, is: "02" + "66e94bd4ef8a2c3b884cfa59ca342b2e" + "9000")
        try expect(card.send("002a808611" + result.dropLast(4) + "00"), is: block + "9000")
        try expect(key().send("002a868010" + block + "00"), is: "6b00")
    }

    @Test("random bytes, as many as are expected")
    func challenge() throws {
        let key = try key()
        #expect(try key.send("0084000008") == "01020304050607089000" && key.send("00840000") == "6700")
        try expect(card().send("0084000021"), is: "6700")
    }

    @Test("the state is kept in a file")
    func file() throws {
        let key = try key()
        #expect(try key.send(Self.admin) == "9000" && key.send("00da005e01aa") == "9000")
        #expect(try key.send("00da00d3083837363534333231") == "9000" && key.send("00da00d7020420") == "9000")
        let state = key.card.state
        try expect(VirtualKeyState(state.json), is: state)
    }
}
