// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSecurID

/// An SDTID file of any shape, with the authentication codes that belong to it.
struct BatchText {
    var header = [
        ("Version", "0"), ("Origin", "o"), ("Dest", "d"), ("Name", "n"),
        ("Secret", Base64.encode([UInt8](repeating: 5, count: 16))), ("DefDeath", "2036/12/31"),
    ]
    /// The fields of each token behind `SN` and `Seed`.
    var tokens: [[(String, String)]] = [[]]
    var serials = ["000000000001"]
    var attributes: [(String, String)] = []
    var password: String?
    var junk = "="
    var seedSize = 16

    static let seed = (0..<16).map { UInt8($0 * 7 + 1) }

    private func node(_ name: String, _ fields: [(String, String)]) -> XMLNode {
        var node = XMLNode(name)
        node.children = fields.map { name, text in
            var child = XMLNode(name)
            child.text = text
            return child
        }
        return node
    }

    private func escaped(_ node: XMLNode) -> String {
        let inner =
            node.children.isEmpty ? node.text.xmlEscaped : "\n" + node.children.map(escaped).joined(separator: "\n")
        return "<\(node.name)>\(inner)</\(node.name)>"
    }

    private func mac(
        _ base: borrowing Secret, _ label: String, _ vector: [UInt8], _ text: XMLNode, _ name: String
    )
        throws -> String
    {
        let key = try SDTIDKeys.mac(base, vector, Array(label.utf8).fitted(32) + Array(name.utf8).fitted(32))
        return Base64.encode(try SDTIDKeys.mac(Secret(key), vector, SDTIDText(text).padded))
    }

    /// The file without an XML declaration.
    func text() throws -> String {
        func value(_ name: String) -> [UInt8] { Array((header.first { $0.0 == name }?.1.trimmed ?? "").utf8) }
        let secret = try Base64.decode(header.first { $0.0 == "Secret" }?.1 ?? "")
        let base = try SDTIDKeys.base(
            password.map { Array($0.utf8) } ?? value("Origin"), dest: value("Dest"), name: value("Name"),
            secret: secret)
        var top = node("TKNHeader", header)
        top.children.append(
            node(
                "HeaderMAC",
                try mac(base.value, "BatchMAC", SDTIDKeys.iv1, top, String(decoding: value("Name"), as: UTF8.self))))
        var batch = XMLNode("TKNBatch")
        batch.children = [top]
        for (serial, fields) in zip(serials, tokens) {
            let seed = try SDTIDKeys.crypt(Self.seed, base.value, serial: Array(serial.trimmed.utf8))
            var token = node(
                "TKN", [("SN", serial), ("Seed", junk + Base64.encode(Array(seed.prefix(seedSize))))] + fields)
            if !attributes.isEmpty { token.children.append(node("TokenAttributes", attributes)) }
            token.children.append(
                node("TokenMAC", try mac(base.value, "TokenMAC", SDTIDKeys.iv2, token, serial.trimmed)))
            batch.children.append(token)
        }
        return escaped(batch)
    }

    private func node(_ name: String, _ text: String) -> XMLNode {
        var node = XMLNode(name)
        node.text = text
        return node
    }

    func read() throws -> [SecurIDToken] { try BatchText.read(text(), password) }

    static func read(_ text: String, _ password: String? = nil) throws -> [SecurIDToken] {
        try SecurIDInput(parsing: Array(text.utf8)).tokens(
            SecurIDKeys(password: password.map { SharedSecret(Secret(utf8: $0)) }))
    }
}

/// SDTID files as issuers, editors and mail programs make them.
struct ShapeTests {
    private static func isSame(_ token: SecurIDToken?) -> Bool {
        token?.serial == "000000000001" && token.map { $0.seed.value == Secret(BatchText.seed) } ?? false
    }

    @Test func fillsInWhatIsMissing() throws {
        let token = try #require(try BatchText().read().first)
        #expect(Self.isSame(token) && token.digits == 6 && token.interval == .seconds(60) && token.type == .keyfob)
        #expect(token.expiry == UTCDate(2036, 12, 31) && token.nickname == nil && token.user == nil)
        var batch = BatchText()
        batch.header.removeAll { $0.0 == "DefDeath" }
        try expect(batch.read().first?.expiry, is: nil)
    }

    @Test func prefersTheTokenThenTheDefaultThenTheHeader() throws {
        var batch = BatchText()
        batch.header += [("DefDigits", "8"), ("Digits", "7"), ("Interval", "30"), ("DefAddPIN", "1")]
        try expect(batch.read().map(\.digits), is: [8])
        try expect(batch.read().map(\.interval), is: [.seconds(30)])
        try expect(batch.read().map(\.type), is: [.pinpad])
        batch.tokens = [[("Digits", "6"), ("Interval", " "), ("AddPIN", "0"), ("PinType", "1")]]
        let token = try #require(try batch.read().first)
        #expect(token.digits == 6 && token.interval == .seconds(30) && token.type == .pinless)
        batch.tokens = [[("addpin", "0")]]
        try expect(batch.read().map(\.type), is: [.pinpad])
    }

    @Test(arguments: [
        ("2036/12/31", UTCDate(2036, 12, 31)), (" 2036/12/31 ", UTCDate(2036, 12, 31)),
        ("2036/12/31 00:00:00", UTCDate(2036, 12, 31)), ("2036-12-31", UTCDate(2036, 12, 31)),
        ("2036-12-31T00:00:00Z", UTCDate(2036, 12, 31)), ("2036/1/5", UTCDate(2036, 1, 5)),
        ("2036/01/5", UTCDate(2036, 1, 5)),
    ])
    func readsDates(_ text: String, _ date: UTCDate?) throws {
        let expiry = try #require(date)
        var batch = BatchText()
        batch.tokens = [[("Death", text)]]
        try expect(batch.read().first?.expiry, is: expiry)
    }

    @Test(arguments: [
        "2036/13/01", "2036/02/30", "2036/12", "12/31/2036", "tomorrow", "2036/12/31/1", "+2036/1/1", "//",
    ])
    func refusesOtherDates(_ text: String) throws {
        var batch = BatchText()
        batch.tokens = [[("Death", text)]]
        #expect(throws: SecurIDError.field("Death")) { _ = try batch.read() }
    }

    @Test(arguments: [
        ("Digits", "9", "digits"), ("Digits", "0", "digits"), ("Digits", "x", "Digits"), ("Digits", "-1", "Digits"),
        ("Interval", "45", "interval"), ("Interval", "9999999999999999999", "Interval"), ("AddPIN", "yes", "AddPIN"),
    ])
    func refusesFieldsOutOfRange(_ name: String, _ value: String, _ refused: String) throws {
        var batch = BatchText()
        batch.tokens = [[(name, value)]]
        let error = #expect(throws: SecurIDError.self) { _ = try batch.read() }
        expect(error, is: .field(refused))
    }

    @Test func readsAttributes() throws {
        var batch = BatchText()
        batch.attributes = [("DeviceSerialNumber", "3eea958d96caa2538ccc8964"), ("Nickname", "work <1> & \"2\"")]
        batch.tokens = [[("UserFirstName", "Ann"), ("UserLastName", "Meyer"), ("UserLogin", " ")]]
        let token = try #require(try batch.read().first)
        #expect(token.deviceID == "3eea958d96caa2538ccc8964" && token.nickname == "work <1> & \"2\"")
        expect(token.user, is: "Ann Meyer")
        batch.tokens = [[("UserLogin", "ann")]]
        try expect(batch.read().first?.user, is: "ann")
    }

    @Test func readsSeveralTokens() throws {
        var batch = BatchText()
        batch.password = "several"
        batch.serials = ["000000000001", "42", "000000000003"]
        batch.tokens = [[("Digits", "8")], [], [("Interval", "30")]]
        let tokens = try batch.read()
        // A file of hardware tokens has shorter serial numbers.
        expect(tokens.map(\.serial), is: ["000000000001", "000000000042", "000000000003"])
        #expect(tokens.map(\.digits) == [8, 6, 6] && tokens.map(\.interval) == [60, 60, 30].map { .seconds($0) })
        let text = try batch.text()
        #expect(throws: SecurIDError.passwordNeeded) { _ = try BatchText.read(text) }
        #expect(throws: SecurIDError.passwordNeeded) { _ = try BatchText.read(text, "") }
        #expect(throws: SecurIDError.wrongPassword) { _ = try BatchText.read(text, "Several") }
        let altered = text.replacingFirst("<Digits>8", "<Digits>6")
        #expect(throws: SecurIDError.mac("token 000000000001")) { _ = try BatchText.read(altered, "several") }
        let other = text.replacingFirst("2036/12/31", "2037/12/31")
        #expect(throws: SecurIDError.mac("header")) { _ = try BatchText.read(other, "several") }
        let input = try SecurIDInput(parsing: Array(text.utf8))
        let keys = SecurIDKeys(password: SharedSecret(Secret(utf8: "several")))
        try expect(
            input.tokens(keys, ["000000000003", "000000000042"]).map(\.serial), is: ["000000000042", "000000000003"])
        #expect(throws: SecurIDError.noSuchToken("000000000009")) { _ = try input.tokens(keys, ["000000000009"]) }
    }

    /// Password, origin, destination and name are cut to their widths.
    @Test func cutsLongNames() throws {
        var batch = BatchText()
        let long = String(repeating: "abcdefgh", count: 5)
        for index in 1...3 { batch.header[index].1 = long }
        #expect(try Self.isSame(batch.read().first))
        batch.password = String(long.prefix(36))
        #expect(try Self.isSame(batch.read().first))
        #expect(try Self.isSame(BatchText.read(batch.text(), String(long.prefix(32))).first))
        batch.password = nil
        for index in 1...3 { batch.header[index].1 = " " }
        #expect(try Self.isSame(batch.read().first))
    }

    @Test func readsSeedsWithAnyCharacterInFront() throws {
        for junk in ["=", "x", ""] {
            var batch = BatchText()
            batch.junk = junk
            #expect(try Self.isSame(batch.read().first), "\(junk)")
        }
        var batch = BatchText()
        batch.seedSize = 8
        #expect(throws: SecurIDError.format("a 64-bit token, which is not supported")) { _ = try batch.read() }
        batch.seedSize = 15
        #expect(throws: SecurIDError.field("Seed")) { _ = try batch.read() }
    }

    /// How the file is written does not matter to its authentication codes.
    @Test func readsOtherSpellings() throws {
        let text = try BatchText().text()
        let seed = try #require(text.split(separator: "<Seed>").last?.split(separator: "<").first)
        let spellings = [
            text, "<?xml version=\"1.0\"?>" + text, "\u{FEFF}<?xml version='1.0' encoding='UTF-8'?>\r\n" + text,
            text.replacing("\n", with: "\r\n"), "<!-- a -->\n<?pi x?>" + text + "\n<!-- z -->\n",
            "From: issuer\nSubject: your token\n\n<?xml version=\"1.0\"?>" + text,
            text.replacing("<TKNBatch>", with: "<TKNBatch xmlns=\"urn:x\" xmlns:y='urn:y' y:a='1' a='2'>"),
            text.replacing("</", with: "</r:").replacing("<", with: "<r:").replacing("<r:/r:", with: "</r:"),
            text.replacing(seed, with: "<![CDATA[\(seed)]]>"),
            text.replacing(seed, with: "<!-- c -->\(seed)<!-- d -->"),
            text.replacing("<Origin>o", with: "<Origin>&#x6f;"), text.replacing("<SN>", with: "<SN id='1'>"),
        ]
        for spelling in spellings {
            #expect(try Self.isSame(BatchText.read(spelling).first), "\(spelling.prefix(120))")
        }
    }

    @Test func readsDeclaredLatin1() throws {
        var batch = BatchText()
        batch.tokens = [[("UserLogin", "Zo\u{EB}")]]
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" + (try batch.text())
        let bytes = text.unicodeScalars.map { UInt8($0.value) }
        try expect(SecurIDInput(parsing: bytes).tokens().first?.user, is: "Zo\u{EB}")
        let undeclared = Array(bytes[(bytes.firstIndex(of: 0x3E) ?? 0)...].dropFirst())
        #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: undeclared) }
        let other = Array(
            text.replacing("ISO-8859-1", with: "Shift_JIS").unicodeScalars.map { UInt8($0.value) })
        #expect(throws: SecurIDError.self) { _ = try SecurIDInput(parsing: other) }
    }
}

extension String {
    fileprivate func replacingFirst(_ old: String, _ new: String) -> String {
        guard let range = firstRange(of: old) else { return self }
        return replacingCharacters(in: range, with: new)
    }

    private func replacingCharacters(in range: Range<Index>, with new: String) -> String {
        String(self[..<range.lowerBound]) + new + self[range.upperBound...]
    }
}
