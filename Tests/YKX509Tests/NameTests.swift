// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire
import YKX509

struct NameTests {
    @Test(arguments: ["Smith, Alice", " a", "a ", " ", "  ", "#1", "a+b=c;d", "\"q\" <x> \\", "Zoë", ""])
    func readsBackAnEscapedValue(_ value: String) throws {
        guard !value.isEmpty else {
            #expect(throws: X509NameError.self) { try DistinguishedName("CN=\(DistinguishedName.escaped(value))") }
            return
        }
        let name = try DistinguishedName("CN=\(DistinguishedName.escaped(value)),O=x")
        #expect(String(decoding: name.encoded, as: UTF8.self).contains(value))
        try expect(DistinguishedName(name.description), is: name)
    }

    @Test(arguments: [
        ("O=x, CN=b\\,ob+L=y", "b,ob"), ("CN=\\20a\\20\\ ", " a  "), ("CN=a,CN=b", "a"), ("O=x", nil), ("bob", nil),
        ("CN=a,b", nil),
    ])
    func findsTheCommonName(_ text: String, _ name: String?) {
        expect(DistinguishedName.commonName(in: text), is: name)
        expect(DistinguishedName.escaped(" #a# ", space: "\\20"), is: "\\20\\#a#\\20")
    }

    @Test(arguments: [
        ("CN=Alice", "CN=Alice"), ("cn = Alice , o=\"Acme, Inc\"", "CN=Alice,O=Acme\\, Inc"),
        ("CN=a\\+b\\2cc,OU=x;O=y", "CN=a\\+b\\,c,OU=x,O=y"),
        ("2.5.4.3=Bob,UID=u", "CN=Bob,UID=u"),
        ("CN=#0c03416263", "CN=Abc"), ("CN=Lu\\C4\\8Di\\C4\\87", "CN=Lučić"),
        ("CN=#1402fc62", "CN=üb"), ("CN=#1e0400410106", "CN=AĆ"), ("CN=#1e03004101", "CN=#1e03004101"),
        ("CN=#1e02d800", "CN=#1e02d800"), ("CN=#1303416263", "CN=Abc"), ("CN=#130340c3bc", "CN=#130340c3bc"),
        ("OU=b+CN=a,C=DE", "CN=a+OU=b,C=DE"),
        ("E=a@example.com,ST=s,L=l,STREET=x", "E=a@example.com,ST=s,L=l,STREET=x"),
        ("CN=\\ \\#a#\\ \\ ", "CN=\\ \\#a#\\ \\ "), ("CN=\\<a\\;b\\>\\\\", "CN=\\<a\\;b\\>\\\\"),
        ("1.3.6.1.4.1.41482.3.999999=x", "1.3.6.1.4.1.41482.3.999999=x"),
        ("surname=s,GN=g,initials=i", "2.5.4.4=s,2.5.4.42=g,2.5.4.43=i"),
        ("postalCode=1,businessCategory=b,description=d", "2.5.4.17=1,2.5.4.15=b,2.5.4.13=d"),
        ("dnQualifier=q,pseudonym=p,organizationIdentifier=o", "2.5.4.46=q,2.5.4.65=p,2.5.4.97=o"),
        ("CN=#1c080000004100000106", "CN=AĆ"), ("CN=#1c0400110000", "CN=#1c0400110000"),
        ("CN=#1c03000041", "CN=#1c03000041"),
    ])
    func readsNames(_ text: String, _ printed: String) throws {
        try expect(DistinguishedName(text).description, is: printed)
    }

    @Test(arguments: [
        "", "Alice", "CN", "CN=", "XX=1", "CN=a,", "CN=a\\", "CN=a\\q", "CN=\"a", "CN=\"a\"b", "CN=#zz", "CN=#",
        "CN=a<b",
        "CN=\\ff", "C=Ü", "E=ü", "CN=#30", "CN=#0c810161", "CN=#0c01610c0162", "1..2=x", "3.01261837445209416064=x",
        "2.18446744073709551615=x", "1.40=x",
        "1.2.=x", "CN=#0c00", "CN=#1300", "CN=a\\00b", "CN=paypal.com\\00.evil", "CN=a\\0ab", "CN=\u{1B}[31m",
        "CN=a\u{85}",
        "CN=#0c03610062", "C=#0c03492337", "E=#0c02c3bc", "CN=#1e0200000041", "CN=#1e0400000041", "CN=#3000",
        "OU=\u{7F}",
        "2.5.4.99999999999=x", ".2=x", "2=x", "OID.=x",
        "C=D", "C=DEU", "C=#0c03444555", "CN=" + String(repeating: "a", count: 65), "serialNumber=ü",
        "O=" + String(repeating: "ü", count: 65), "OU=#0c41" + String(repeating: "61", count: 65),
    ])
    func refusesNames(_ text: String) {
        #expect(throws: X509NameError.self) { try DistinguishedName(text) }
    }

    @Test(arguments: [
        "dns", "dns:", "dns:a b", "ip:1.2.3", "ip:1.2.3.400", "ip:1:2", "ip:::1::2", "ip:1:2:3:4:5:6:7:8:9", "foo:bar",
        "ip:12345::", "ip:+1::", "rid:1", "rid:1.2.x", "dirname:", "dirname:Alice", "upn:", "upn:a\0b",
        "upn:a\u{1B}[31m",
        "othername:1.2.3", "othername:1.2.3;text", "othername:1.2.3;UTF8:", "othername:x;UTF8:a", "email:ä@example.com",
    ])
    func refusesAlternativeNames(_ text: String) {
        #expect(throws: X509NameError.self) { try AlternativeName(text) }
    }

    @Test func saysHowNamesAreWritten() throws {
        let longest = "CN=" + String(repeating: "ü", count: 64)
        try expect(DistinguishedName(longest).description, is: longest)
        let reasons = [
            ("/CN=a/O=b", "CN=Alice,O=Example"), ("C=DEU", "two letters"), (longest + "a", "65 characters"),
        ]
        for (text, reason) in reasons {
            let error = #expect(throws: X509NameError.self) { try DistinguishedName(text) }
            expect(error?.reason.contains(reason), is: true, "\(text)")
        }
        try expect(DistinguishedName("serialNumber=1").attributes[0].value.tag, is: 0x13)
    }

    @Test(arguments: [
        ("ip:::ffff:1.2.3.4", "00000000000000000000ffff01020304"),
        ("ip:64:ff9b::192.0.2.33", "0064ff9b0000000000000000c0000221"),
        ("ip:1:2:3:4:5:6:1.2.3.4", "00010002000300040005000601020304"),
    ])
    func readsMappedAddresses(_ text: String, _ bytes: String) throws {
        #expect(Hex.encode(AlternativeName.encoded([try AlternativeName(text)])).hasSuffix(bytes))
    }

    @Test(arguments: [
        "ip:::ffff:1.2.3", "ip:::1.2.3.4:5", "ip:::ffff:1.2.3.400", "ip:1:2:3:4:5:6:7:1.2.3.4", "ip:1.2.3.4::",
    ])
    func refusesMalformedAddresses(_ text: String) {
        #expect(throws: X509NameError.self) { try AlternativeName(text) }
    }

    @Test func refusesLongNames() {
        #expect(throws: X509NameError.self) {
            try DistinguishedName("CN=" + String(repeating: "a", count: 5000))
        }
    }

    @Test func keepsTheOrderOfTheEncoding() throws {
        let name = try DistinguishedName("OU=b+CN=a,O=#0101ff,C=DE")
        expect(name.attributes.map(\.type.description), is: ["2.5.4.6", "2.5.4.10", "2.5.4.3", "2.5.4.11"])
        expect(name.attributes.map(\.text), is: ["DE", nil, "a", "b"])
        try expect(DistinguishedName(der: name.encoded), is: name)
        #expect(try DistinguishedName(der: [0x30, 0x00]).description.isEmpty)
    }
}
