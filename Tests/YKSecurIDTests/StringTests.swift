// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSecurID

/// Token strings as people, mail programs and editors pass them on.
struct StringTests {
    /// 81 digits without protection.
    private static let digits = Vector.good.first { $0.id == "dev-01" }?.input ?? ""

    private func serial(_ bytes: [UInt8], _ keys: SecurIDKeys = SecurIDKeys()) throws -> String? {
        try SecurIDInput(parsing: bytes).tokens(keys).first?.serial
    }

    private func pieces(_ text: String, _ size: Int, _ separator: String) -> String {
        stride(from: 0, to: text.count, by: size).map { start in
            String(text.dropFirst(start).prefix(size))
        }.joined(separator: separator)
    }

    @Test func readsDigitsHoweverTheyAreBroken() throws {
        let digits = Self.digits
        let spellings = [
            digits, pieces(digits, 5, "-"), pieces(digits, 5, " "), pieces(digits, 27, "\n"),
            pieces(digits, 40, "\r\n"),
            digits + "\n", digits + "\n\nRegards, 42 issuers", "  \(digits)", "\u{FEFF}\(digits)",
            "Your token:\n\(digits)\n", "Version 2 of your token\n\(digits)",
            "1st line\nYour token:\n\n\(pieces(digits, 5, "-"))\nbye", "ctfData=\(digits)",
            "ctfData=3D\(digits)", "CTFDATA=\(digits)&x=1", "<a href=\"com.x://ctf?ctfData=\(digits)\">token</a>",
            "x://ctf?a=b&ctfData=\(digits)#end",
        ]
        for spelling in spellings {
            try expect(serial(Array(spelling.utf8)), is: "005222161430", "\(spelling)")
        }
        for isLittle in [true, false] {
            let units = ("\u{FEFF}" + digits).utf16.flatMap { unit in
                let pair = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
                return isLittle ? pair : pair.reversed()
            }
            try expect(serial(units), is: "005222161430")
        }
    }

    @Test func refusesBrokenBytes() {
        for bytes in [[0xFF, 0xFE, 0x31], [0xFE, 0xFF, 0xD8, 0x00], [0x31, 0xFF], [0xEF, 0xBB, 0xBF, 0xFF]] as [[UInt8]]
        {
            #expect(throws: SecurIDError.format("not UTF-8")) { _ = try SecurIDInput(parsing: bytes) }
        }
    }

    /// Text in which every line could begin a string takes no more than a moment.
    @Test func givesUpOnLongTexts() {
        for line in ["1\n", "A\n", "2 ", "version 1\n"] {
            let text = String(repeating: line, count: 60_000 / line.utf8.count)
            #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: Array(text.utf8)) }
        }
        let text = [UInt8](repeating: 0x31, count: 70_000)
        #expect(throws: SecurIDError.tooLong("text", limit: 65_536)) { _ = try SecurIDInput(parsing: text) }
    }

    @Test func refusesOtherLengths() {
        for digits in [String(Self.digits.dropLast()), Self.digits + "00000", String(repeating: "2", count: 200)] {
            let error = #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: Array(digits.utf8)) }
            if case .format? = error { continue }
            Issue.record("\(String(describing: error))")
        }
    }

    @Test(arguments: [3, 4]) func readsBase64HoweverItIsBroken(_ version: Int) throws {
        let text = try AlphanumericCTF.text(try FormTests.token(), version: version, CountingRandom(from: 1))
        let string = String(decoding: text.value.copyBytes(), as: UTF8.self)
        expect(string.utf8.count, is: 388)
        let encoded = URLText.encoded(string)
        let every = String(string.prefix(1)) + string.utf8.dropFirst().map { String(format: "%%%02x", $0) }.joined()
        let safe = string.replacing("+", with: "-").replacing("/", with: "_")
        let spellings = [
            string, encoded, every, safe, pieces(string, 76, "\n"), pieces(string, 64, "\r\n") + "\r\nRegards",
            pieces(string, 75, "=\r\n"), "ctfData=\(encoded)", "CtfData=3D\(pieces(encoded, 70, "=\n"))",
            "x://ctf?ctfData=\(encoded)&other=1", "a <http://127.0.0.1/securid/ctf?ctfData=\(encoded)> b",
            "Dear user,\n\n\(string)\n",
        ]
        for spelling in spellings where !spelling.contains("%=") && !spelling.contains("%2=") {
            try expect(serial(Array(spelling.utf8)), is: "000123456789", "\(spelling.prefix(60))")
        }
        for wrong in [String(string.dropLast()), string + "A", string + "%41", String(string.dropFirst())] {
            #expect(throws: SecurIDError.self) { _ = try serial(Array(wrong.utf8)) }
        }
    }

    /// Each bit of a string in base64 is covered by a digest or the authentication code.
    @Test(arguments: [nil, "p w"]) func refusesEachFlippedBit(_ password: String?) throws {
        let keys = SecurIDKeys(
            password: password.map { SharedSecret(Secret(utf8: $0)) }, deviceIDs: ["3eea958d96caa2538ccc8964"])
        let text = try AlphanumericCTF.text(
            try FormTests.token(), password: keys.password, deviceID: keys.deviceIDs[0], CountingRandom(from: 1))
        let bytes = try Base64.decode(String(decoding: text.value.copyBytes(), as: UTF8.self))
        for place in stride(from: 0, to: bytes.count, by: 3) {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            #expect(throws: SecurIDError.self, "byte \(place)") {
                _ = try CTFString(Base64.encode(changed)).token(keys)
            }
        }
    }

    /// A string of version 1 or 2, made as stoken makes it.
    private func numeric(
        _ version: Int, flags: Int, device: [UInt8] = [], width: Int = 32, password: String = ""
    ) throws -> String {
        let seed = (0..<16).map { UInt8($0 * 5 + 2) }
        let key = AESHash.hash(Array(password.utf8) + device + [0xD8, 0xF5, 0x32, 0x53, 0x82, 0x89])
        var bits: [Int] = []
        func add(_ value: Int, _ count: Int) { bits += (0..<count).reversed().map { value >> $0 & 1 } }
        for byte in try BlockCipher.aes.encrypt(seed, key: Secret(key)) { add(Int(byte), 8) }
        add(flags, 16)
        add(12_000, 14)
        add(0, 1)
        add(AESHash.short(seed), 15)
        add(AESHash.short(device.fitted(width)), 15)
        func octal(_ bits: [Int]) -> String {
            stride(from: 0, to: bits.count, by: 3).map { "\(bits[$0] << 2 | bits[$0 + 1] << 1 | bits[$0 + 2])" }
                .joined()
        }
        let text = "\(version)000000000077" + octal(bits)
        bits = []
        add(AESHash.short(Array(text.utf8)), 15)
        return text + octal(bits)
    }

    /// Versions, flags and device identifiers of every kind; a URL that lost its scheme takes the other width.
    @Test(arguments: [1, 2], [32, 40]) func opensBoundStrings(_ version: Int, _ width: Int) throws {
        let id = "3eea958d-96ca-a253-8ccc-8964d1e2f3a4-b5c6d7"
        let fields = [DeviceBinding.hexadecimal(id, width: width), DeviceBinding.nonDecimal(id, width: width)]
        for field in version == 1 ? fields : [fields[0]] {
            let text = try numeric(version, flags: 0x73D9, device: field, width: width, password: "pw")
            for prefix in ["", "com.rsa.securid.iphone://ctf?ctfData="] {
                let input = try SecurIDInput(parsing: Array((prefix + text).utf8))
                #expect(input.isBound && input.isProtected == true && input.form == "ctf-v\(version)")
                let password = SharedSecret(Secret(utf8: "pw"))
                let token = try #require(
                    try input.tokens(SecurIDKeys(password: password, deviceIDs: ["x", id])).first)
                #expect(token.serial == "000000000077" && token.deviceID == id)
                #expect(throws: SecurIDError.wrongDevice) {
                    _ = try input.tokens(SecurIDKeys(password: password, deviceIDs: ["00"]))
                }
                #expect(throws: SecurIDError.deviceNeeded) { _ = try input.tokens(SecurIDKeys(password: password)) }
                #expect(throws: SecurIDError.wrongPassword) {
                    _ = try input.tokens(SecurIDKeys(password: SharedSecret(Secret(utf8: "PW")), deviceIDs: [id]))
                }
                #expect(throws: SecurIDError.passwordNeeded) { _ = try input.tokens(SecurIDKeys(deviceIDs: [id])) }
            }
        }
    }

    @Test(arguments: DeviceBinding.classes) func opensStringsForClasses(_ id: String) throws {
        let field = DeviceBinding.hexadecimal(id, width: 40)
        let text = try numeric(2, flags: 0x53D9, device: field, width: 40)
        try expect(CTFString(text, isSmartphoneURL: true).token().deviceID, is: id)
        try expect(CTFString(text).token(SecurIDKeys(deviceIDs: ["aa"])).deviceID, is: id)
    }

    /// Digits, interval and PIN mode of the flags; without the flag of 128 bits the code is the same.
    @Test func readsFlags() throws {
        for digits in 1...8 {
            for (interval, code) in [(30, 0), (60, 1), (60, 2), (60, 3)] {
                for mode in 0...3 {
                    for wide in [0x4000, 0] {
                        let flags = wide | (digits - 1) << 6 | mode << 3 | code
                        let token = try CTFString(numeric(2, flags: flags)).token()
                        #expect(token.digits == digits && token.interval == .seconds(interval))
                        expect(token.type, is: (mode >= 2 ? .pinpad : .keyfob))
                    }
                }
            }
        }
    }

    @Test(arguments: [
        (UInt8(0x1F), SecurIDTokenType.keyfob), (0x20, .keyfob), (0x21, .pinpad), (0x01, .pinpad),
    ])
    func readsHandlingOfPIN(_ handling: UInt8, _ type: SecurIDTokenType) throws {
        expect(AlphanumericCTF.type(handling), is: type)
    }

    @Test func readsFilesOfStokenAsStokenDoes() throws {
        for text in [
            "token \(Self.digits)", "VERSION 1\r\nToken \(Self.digits)\r\n",
            "# c\n\nversion 1.2\n\ttoken \(Self.digits) x\n",
            "version 1\nfuture thing\ntoken \(Self.digits)\npin 1234\n",
        ] {
            let input = try SecurIDInput(parsing: Array(text.utf8))
            #expect(input.form == "stokenrc" && input.serials == ["005222161430"], "\(text)")
        }
        let url = try AlphanumericCTF.text(try FormTests.token(), CountingRandom(from: 1))
        let modern = "version 1\ntoken \(String(decoding: url.value.copyBytes(), as: UTF8.self))\n"
        try expect(serial(Array(modern.utf8)), is: "000123456789")
    }

    @Test func findsLinksInMail() throws {
        let link = "com.rsa.securid://ctkip?scheme=https&amp;url=h:7004/p&amp;activationCode=12"
        for text in [link, "Dear user,\nopen <\(link)> on your phone.", "<a href='\(link)'>here</a>"] {
            guard case .ctkip(let found) = try SecurIDInput(parsing: Array(text.utf8)) else {
                Issue.record("\(text)")
                continue
            }
            #expect(found.server == "https://h:7004/p" && found.code?.text == "12")
        }
        #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: Array("ctkip is a protocol".utf8)) }
    }
}
