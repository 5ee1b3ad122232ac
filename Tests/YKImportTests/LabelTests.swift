// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKImport
import YKOATH
import YKTestSupport
import YKWire

/// Issuer and name of accounts that other programs stored, and the parts of their exports.
@Suite struct LabelTests {
    private static func names(_ text: String) throws -> [String] {
        let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
        return try export.entries().map { try $0.account.get().id.text }
    }

    private static func aegis(_ issuer: String, _ name: String, type: String = "totp") -> String {
        #"{"header":{},"db":{"entries":[{"type":"\#(type)","name":"\#(name)","issuer":"\#(issuer)","info":{"secret":"GEZDGNBV"}}]}}"#
    }

    @Test(arguments: [
        ("GitHub", "", "GitHub"), ("", "bob", "bob"), ("Facebook", "Facebook:bob", "Facebook:bob"),
        ("GitHub", "github: bob", "GitHub:bob"), ("Google", "Gmail:bob", "Google:Gmail:bob"),
        ("GitHub", "GitHub:", "GitHub"), ("", "GitHub:", "GitHub"), ("", "a:b", "a:b"), (" I ", " n ", "I:n"),
    ])
    func labels(issuer: String, name: String, text: String) throws {
        try expect(Self.names(Self.aegis(issuer, name)), is: [text])
    }

    @Test func steamStaysSteam() throws {
        try expect(Self.names(Self.aegis("Valve", "", type: "steam")), is: ["Steam:Valve"])
        try expect(Self.names(Self.aegis("", "bob", type: "steam")), is: ["Steam:bob"])
    }

    @Test("an account without a name, in every format that has one")
    func withoutNames() throws {
        let uri = "otpauth://totp/?secret=GEZDGNBV"
        let files = [
            Self.aegis("GitHub", ""),
            #"[{"secret":"GEZDGNBV","issuer":"GitHub","label":"","type":"TOTP"}]"#,
            #"[{"issuer":"GitHub","account":"","secret":"GEZDGNBV","digits":"6","timer":"30","kind":"TOTP"}]"#,
            #"{"tokenOrder":[],"tokens":[{"issuerExt":"GitHub","label":"","secret":[1],"type":"TOTP"}]}"#,
            #"{"schemaVersion":4,"services":[{"name":"GitHub","secret":"GEZDGNBV","otp":{}}]}"#,
            #"{"Authenticators":[{"Type":2,"Issuer":"GitHub","Username":"","Secret":"GEZDGNBV"}]}"#,
            #"{"encrypted":false,"items":[{"name":"GitHub","login":{"totp":"\#(uri)"}}]}"#,
            "folder,favorite,type,name,login_uri,login_totp\n,,1,GitHub,,\(uri),x,30,6\n",
            "Group,Title,Username,TOTP\nRoot,GitHub,,\(uri)\n",
            #"{"version":1,"entries":[{"content":{"uri":"\#(uri)&issuer=GitHub","name":""}}]}"#,
        ]
        for file in files { try expect(Self.names(file), is: ["GitHub"], "\(file)") }
        let withUser = #"{"encrypted":false,"items":[{"name":"Shop","login":{"username":"eve","totp":"\#(uri)"}}]}"#
        try expect(Self.names(withUser), is: ["Shop:eve"])
        let named = #"{"version":1,"entries":[{"content":{"uri":"\#(uri)&issuer=Shop","name":"eve"}}]}"#
        try expect(Self.names(named), is: ["Shop:eve"])
        try expect(OtpauthURI.parse("\(uri)&issuer=GitHub").id.text, is: "GitHub")
        // A Google export: secret "A", issuer "G".
        try expect(MigrationPayload(decoding: Hex.decode("0a060a01411a0147")).accounts.map(\.id.text), is: ["G"])
        // A name that repeats the issuer in another case: issuer "Gi", name "gi:b".
        #expect(
            try MigrationPayload(decoding: Hex.decode("0a0d0a0141120467693a621a024769")).accounts.map(\.id.text)
                == ["Gi:b"])
    }
}
