// SPDX-License-Identifier: Apache-2.0

import Testing
import YKImport
import YKTestSupport

/// LastPass Authenticator's export, as `Tests/Peers/imports.py lastpass` writes it.
@Suite struct LastPassTests {
    private static func text(_ accounts: String) -> String {
        #"{"deviceId":"","deviceSecret":"","localDeviceId":"x","deviceName":"Phone","version":3,"folders":[],"accounts":["#
            + accounts + "]}"
    }

    @Test func namesAsTheUserChangedThem() throws {
        let text = Self.text(
            #"""
            {"accountID":"a","issuerName":"Größe","originalIssuerName":"Old","userName":"bob:büro","originalUserName":"old",
             "pushNotification":false,"secret":"gezd gnbv","timeStep":60,"digits":8,"algorithm":"SHA256"},
            {"issuerName":"","originalIssuerName":"Old","userName":"","originalUserName":"old","secret":"GEZDGNBV",
             "timeStep":30,"digits":6,"algorithm":"SHA512"},
            {"issuerName":"","userName":"alone","secret":"GEZDGNBV"}
            """#)
        let found = try ExportSample(text).summary()
        expect(found.format, is: .lastPass)
        expect(
            found.lines,
            is: ["Größe | bob:büro | SHA256 8 60 s", "Old | old | SHA512 6 30 s", "- | alone | SHA1 6 30 s"])
        try expect(ExportSample("\u{FEFF}" + text.replacing("\n", with: "\r\n")).summary().lines, is: found.lines)
    }

    @Test func accountsThatAKeyCannotHold() throws {
        let fields = [
            #""digits":9"#, #""digits":"x""#, #""timeStep":0"#, #""timeStep":-30"#, #""timeStep":9223372036854775807"#,
            #""algorithm":"MD5""#, #""digits":[6]"#, #""digits":6.5"#,
        ]
        let rows = fields.map { #"{"issuerName":"I","userName":"n","secret":"GEZDGNBV",\#($0)}"# }
        let others = [
            #"{"issuerName":"I","userName":"n"}"#, #"{"issuerName":"I","userName":"n","secret":"1"}"#,
            #"{"issuerName":"I","userName":"n","secret":""}"#, #"{"issuerName":" ","secret":"GEZDGNBV"}"#, "null", "[]",
        ]
        let lines = try ExportSample(Self.text((rows + others).joined(separator: ","))).summary().lines
        expect(
            lines.map { $0.split(separator: " ").last ?? "" },
            is: [
                "digits", "digits", "period", "period", "period", "algorithm", "digits", "digits", "secret", "secret",
                "secret", "label", "label", "label",
            ])
    }

    @Test func recognized() throws {
        try expect(ExportSample(Self.text("")).summary().lines, is: [])
        // Of a member that occurs twice, the last one counts.
        let doubled = Self.text("").replacing(#""version":3"#, with: #""version":2,"version":3"#)
        try expect(ExportSample(doubled).summary().lines, is: [])
        for text in [#"{"accounts":[]}"#, #"{"accounts":{}}"#, #"{"accounts":[{"name":"x"}]}"#] {
            #expect(try AuthenticatorExport.recognize(Array(text.utf8)) == nil)
        }
        let deep = Self.text(String(repeating: "[", count: 100_000))
        #expect(try AuthenticatorExport.recognize(Array(deep.utf8)) == nil)
        ExportSample(Self.text(#"{"issuerName":"I","userName":"n","secret":"GEZDGNBV","timeStep":30}"#)).survives()
    }
}
