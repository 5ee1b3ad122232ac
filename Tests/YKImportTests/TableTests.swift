// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKImport
import YKOATH
import YKTestSupport

/// Tables of any program.
@Suite struct TableTests {
    private static let secret = "GEZDGNBVGY3TQOJQ"
    private static let uri = "otpauth://totp/Acme:alice?secret=\(secret)&issuer=Acme"

    private func columns(_ text: String) throws -> [String] {
        try AuthenticatorExport.recognize(Array(text.utf8))?.columns.map { "\($0.number) \($0.name) \($0.count)" } ?? []
    }

    private func lines(_ text: String, _ column: String) throws -> [String] {
        try ExportSample(text).summary(column: column).lines
    }

    @Test func columnsAreFound() throws {
        try expect(columns("a,b,c\n1,\(Self.uri),\(Self.secret)\n2,,\(Self.secret)\n"), is: ["2 b 1", "3 c 2"])
        try expect(columns("a;b\r\n1;\(Self.uri)\r\n"), is: ["2 b 1"])
        try expect(columns("a\tb\r1\t\"\(Self.uri)\"\r"), is: ["2 b 1"])
        try expect(columns("sep,x\n\"a, \"\"b\"\"\nc\",steam://\(Self.secret)"), is: ["2 x 1"])
        try expect(columns("name,secret\nbob,gezd gnbv gy3t qojq\n"), is: ["2 secret 1"])
        // Without a header.
        try expect(columns("bob,\(Self.uri)\n\ncarol,\(Self.uri)\n"), is: ["2  2"])
        // Neither a short text nor one with other characters is a secret, and a list of URIs is no table.
        for text in [
            "a,b\nbob,hunter2\n", "a,b\nbob,GEZDGNBV\n", "a,b\nx,\(Self.secret)\ny,hunter2\n", "a,b\n", "a,b\n1,\n", "",
            "\(Self.uri),x\n\(Self.uri),y\n", "Codes, all of them\n\(Self.uri)\n", "a,b\n1,\"\(Self.uri)\n",
        ] {
            try expect(columns(text), is: [], "\(text)")
        }
        let text = "a,b\n1,\(Self.uri)\n"
        let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
        #expect(throws: ExportError.needsColumn(export.columns)) { try export.entries() }
        try expect(export.entries(column: export.columns.first).map(\.label), is: ["Acme:alice"])
    }

    @Test func columnsAreNamed() throws {
        let text =
            "Title,Username,Password,One-time password\nAcme,alice,hunter2,\(Self.secret)\nB,,x,\n,bob,y,\(Self.uri)\n"
        let wanted = ["Acme | alice | SHA1 6 30 s", "Acme | alice | SHA1 6 30 s"]
        for column in ["One-time password", "one-time PASSWORD ", "4"] { try expect(lines(text, column), is: wanted) }
        for column in ["Password", "Username", "0", "5", "-1", "9223372036854775807", "", "one"] {
            #expect {
                try AuthenticatorExport.recognize(Array(text.utf8), column: column)
            } throws: {
                guard case .noSuchColumn(column, let columns) = $0 as? ExportError else { return false }
                return columns.map(\.number) == [4]
            }
        }
        #expect(throws: ExportError.noSuchColumn("x", [])) {
            try AuthenticatorExport.recognize([0xFF, 0], column: "x")
        }
        // A column by itself, and one of a known program's table.
        try expect(lines("secret\r\n\(Self.secret)\r\n", "secret"), is: [": label"])
        try expect(lines("name,login_totp,other\nA,,\(Self.secret)\n", "other"), is: ["- | A | SHA1 6 30 s"])
        #expect(throws: ExportError.self) { try AuthenticatorExport.recognize(Array("{}".utf8), column: "x") }
    }

    @Test func otherColumns() throws {
        let text = """
            Service;Login;Secret;Algorithm;Digits;Period;Type;Counter
            Ü;a;\(Self.secret);SHA256;8;60;TOTP;
            ;h;GEZDGNBV;;;;hotp;7
            Steam;g;\(Self.secret);;5;;steam;
            A;b;\(Self.secret);MD5;;;login;
            A;c;\(Self.secret);;9;;;
            A;d;\(Self.secret);;;0;;
            A;e;\(Self.secret);;;;hotp;-1
            A;f;pw;;;;;
            A;i;not base 32!;;;;;
            A;j;key=\(Self.secret)&step=60&size=8;;;;;
            A;k
            ;;\(Self.secret);;;;;
            """
        try expect(
            lines(text, "secret"),
            is: [
                "Ü | a | SHA256 8 60 s", "- | h | SHA1 6 counter 7", "Steam | g | SHA1 6 30 s Steam", "A:b: algorithm",
                "A:c: digits", "A:d: period", "A:e: counter", "A:f: secret", "A:i: secret", "A | j | SHA1 8 60 s",
                "row 12: secret", ": label",
            ])
    }

    @Test("A row whose fields are shifted is read if it has a URI, and never skipped")
    func shiftedRows() throws {
        let text =
            "name,login_uri,login_totp\nFoo, Inc.,,\(Self.uri),x\nBar, Ltd.,u,hunter2\nNote\n,,\nA,u,\(Self.secret),,\n"
        try expect(
            ExportSample(text).summary().lines,
            is: [
                "Acme | alice | SHA1 6 30 s", "row 3: secret", "row 4: secret", "- | A | SHA1 6 30 s",
            ])
        #expect(
            try lines("name,x,secret\nFoo, Inc.,,\(Self.uri)\nB,\(Self.uri),\nC,,\(Self.secret)\n", "secret")
                == ["Acme | alice | SHA1 6 30 s", "Acme | alice | SHA1 6 30 s", "- | C | SHA1 6 30 s"])
        #expect(OtpauthError(.secret, .shiftedRow(fields: 5, columns: 4)).description.contains("5 fields"))
    }

    @Test("Names of columns: the best one that has text in the row, and those of accounts first")
    func bestColumns() throws {
        let proton = "name,email,username,totp\nG,a@b,,\(Self.secret)\nG,a@b,c,\(Self.secret)\n"
        try expect(lines(proton, "totp"), is: ["G | a@b | SHA1 6 30 s", "G | c | SHA1 6 30 s"])
        let keePass = "Account,Login Name,Web Site,OTP\nGitHub,bob,https://x,\(Self.secret)\n"
        try expect(lines(keePass, "OTP"), is: ["GitHub | bob | SHA1 6 30 s"])
        try expect(
            lines("sep=;\r\nIssuer;Account;Secret\r\nA;b;\(Self.secret)\r\n", "Secret"), is: ["A | b | SHA1 6 30 s"])
        try expect(
            columns("Password,x,OTP\n\(Self.secret),\(Self.secret),\(Self.secret)\n"),
            is: [
                "3 OTP 1", "2 x 1", "1 Password 1",
            ])
        try expect(lines("otp,otp,name\nhunter2,\(Self.secret),A\n", "otp"), is: ["- | A | SHA1 6 30 s"])
    }

    @Test("a table is limited in its width and in its fields")
    func limits() throws {
        let wide = String(repeating: ",", count: 5000)
        try expect(columns("a\(wide)\n1,\(Self.uri)\n"), is: [])
        let many = String(repeating: ",,,,,,,\n", count: 200_000)
        try expect(columns("a,b\n1,\(Self.uri)\n" + many), is: [])
        try expect(columns("a,b\n1,\(Self.uri)\n" + String(repeating: "\n", count: 200_000)), is: ["2 b 1"])
        ExportSample("a,\"b\"\r\n\"1\"\"\",\(Self.uri)\r\n").survives()
    }
}
