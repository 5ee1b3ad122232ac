// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire
import YKX509

struct ExtensionTests {
    @Test func hasNoneOfThem() throws {
        let certificate = try X509Certificate(der: Sample().der)
        #expect(certificate.extensions.isEmpty)
        #expect(try certificate.basicConstraints == nil && certificate.keyUsage == nil)
        #expect(try certificate.extendedKeyUsage == nil && certificate.alternativeNames == nil)
        #expect(try certificate.subjectKeyIdentifier == nil && certificate.authorityKeyIdentifier == nil)
    }

    @Test(arguments: [
        ("3000", false, nil as Int?), ("3003010100", false, nil), ("30030101ff", true, nil), ("3003010101", true, nil),
        ("30060101ff020100", true, 0), ("30080101ff0203010000", true, 65536), ("3003020105", false, 5),
    ])
    func readsBasicConstraints(_ value: String, _ isAuthority: Bool, _ pathLength: Int?) throws {
        let bytes = try Hex.decode(value)
        let constraints = try #require(try Sample.with("2.5.29.19", bytes).basicConstraints)
        #expect(constraints.isAuthority == isAuthority && constraints.pathLength == pathLength)
    }

    @Test(arguments: [
        "", "3081", "30040202ff", "30", "3001", "3003", "30030101", "300000", "300401020000",
        "30060101ff0201ff", "30070101ff02020001", "30090101ff020101020101", "300a0101ff020500ffffffff", "3100", "0500",
        "30800000", "3081030101ff", "30040101ff00",
    ])
    func refusesBasicConstraints(_ value: String) throws {
        let certificate = try Sample.with("2.5.29.19", Hex.decode(value))
        #expect(throws: WireError.self) { try certificate.basicConstraints }
    }

    static let usages: [(String, X509Certificate.KeyUsage)] = [
        ("03020780", .digitalSignature), ("03020308", .keyAgreement), ("03020204", .certificateSigning),
        ("030205a0", [.digitalSignature, .keyEncipherment]), ("030100", []),
        ("0303070080", .init(rawValue: 0x0080)), ("030400040000", .certificateSigning),
    ]

    @Test(arguments: usages)
    func readsKeyUsage(_ value: String, _ usage: X509Certificate.KeyUsage) throws {
        try expect(Sample.with("2.5.29.15", Hex.decode(value)).keyUsage, is: usage)
    }

    @Test(arguments: ["", "0300", "030107", "03020801", "03020781", "0302030800", "04020308", "3081", "30040202ff"])
    func refusesKeyUsage(_ value: String) throws {
        let certificate = try Sample.with("2.5.29.15", Hex.decode(value))
        #expect(throws: WireError.self) { try certificate.keyUsage }
    }

    @Test func readsPurposes() throws {
        let certificate = try Sample.with("2.5.29.37", Hex.decode("300706052b06010505"))
        try expect(certificate.extendedKeyUsage?.map(\.description), is: ["1.3.6.1.5.5"])
        try expect(Sample.with("2.5.29.37", [0x30, 0x00]).extendedKeyUsage, is: [])
        for value in [
            "", "3081", "30040202ff", "30020600", "3003060180", "30040602802a", "300306012a00", "300306012a0500",
        ] {
            let certificate = try Sample.with("2.5.29.37", Hex.decode(value))
            #expect(throws: WireError.self, "\(value)") { try certificate.extendedKeyUsage }
        }
    }

    /// As `openssl req -addext subjectAltName=otherName:1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com` and its like write it.
    @Test(
        "writes the kinds of names as OpenSSL does, and reads them again",
        arguments: [
            (
                "upn:alice@example.com",
                "a021060a2b060104018237140203a0130c11616c696365406578616d706c652e636f6d"
            ), ("othername:1.2.3;UTF8:é", "a00a06022a03a0040c02c3a9"), ("rid:1.2.3.4", "88032a0304"),
            ("dirname:CN=TPM", "a410300e310c300a06035504030c0354504d"),
        ])
    func writesOtherNames(_ text: String, _ hex: String) throws {
        let name = try AlternativeName(text)
        expect(Hex.encode(AlternativeName.encoded([name]).dropFirst(2)), is: hex)
        expect(name.text, is: text)
    }

    @Test("names in OpenSSL's spelling are the same names")
    func readsOpenSSLsSpelling() throws {
        try expect(AlternativeName("DNS:example.com"), is: AlternativeName("dns:example.com"))
        #expect(
            try AlternativeName("otherName:1.3.6.1.4.1.311.20.2.3;UTF8:alice@example.com")
                == AlternativeName("upn:alice@example.com"))
        try expect(AlternativeName("dirName:CN=A,O=B"), is: AlternativeName("dirname:CN=A,O=B"))
    }

    @Test func readsAlternativeNames() throws {
        let texts = ["dns:example.com", "email:a@example.com", "uri:https://example.com/", "ip:192.0.2.1"]
        let names = try texts.map { try AlternativeName($0) } + [AlternativeName("ip:2001:db8::1")]
        let read = try Sample.with("2.5.29.17", AlternativeName.encoded(names)).alternativeNames
        expect(read, is: names)
        expect(read?.map(\.text), is: texts + ["ip:2001:db8:0:0:0:0:0:1"])
        expect(read?.map(\.domainName), is: ["example.com", nil, nil, nil, nil])
        let others = TLV(
            0x30,
            [TLV(0xA4, Sample.name("TPM")), TLV(0xA4, [0x30]), TLV(0x82, [0xFF]), TLV(0x87, [1, 2]), TLV(0x88, [42])]
                .encoded)
        let odd = try #require(try Sample.with("2.5.29.17", others.encoded).alternativeNames)
        expect(odd.map(\.text), is: ["dirname:CN=TPM", nil, "dns:\\xFF", "ip:0102", "rid:1.2"])
        expect(odd.map { $0.directoryName?.description }, is: ["CN=TPM", nil, nil, nil, nil])
        for value in ["", "3081", "30040202ff", "3003820261", "300000", "3100", "300482810161"] {
            let certificate = try Sample.with("2.5.29.17", Hex.decode(value))
            #expect(throws: WireError.self, "\(value)") { try certificate.alternativeNames }
        }
    }

    @Test func readsKeyIdentifiers() throws {
        try expect(Sample.with("2.5.29.14", [0x04, 0x02, 7, 8]).subjectKeyIdentifier, is: [7, 8])
        try expect(Sample.with("2.5.29.35", [0x30, 0x04, 0x80, 0x02, 7, 8]).authorityKeyIdentifier, is: [7, 8])
        try expect(Sample.with("2.5.29.35", [0x30, 0x03, 0x82, 0x01, 1]).authorityKeyIdentifier, is: nil)
        for value in ["", "3081", "30040202ff", "0402ff", "0401ff00", "30048002ff"] {
            let bytes = try Hex.decode(value)
            #expect(throws: WireError.self, "\(value)") { try Sample.with("2.5.29.14", bytes).subjectKeyIdentifier }
        }
        for value in ["", "3081", "30048003ff", "30038001ff00", "0401ff"] {
            let bytes = try Hex.decode(value)
            #expect(throws: WireError.self, "\(value)") { try Sample.with("2.5.29.35", bytes).authorityKeyIdentifier }
        }
    }
}
