// SPDX-License-Identifier: Apache-2.0

import Testing
import YKImport
import YKTestSupport

/// 2FAuth's export, as `Tests/Peers/imports.py 2fauth` writes it.
@Suite struct TwoFAuthTests {
    private static func text(_ accounts: String, schema: String = "1") -> String {
        #"{"app":"2fauth_v5.6.0","schema":\#(schema),"datetime":"2026-01-01T00:00:00.000000Z","data":[\#(accounts)]}"#
    }

    @Test func eachType() throws {
        let text = Self.text(
            #"""
            {"otp_type":"totp","account":"bob:büro","service":"Größe","icon":null,"secret":"GEZDGNBV","digits":8,
             "algorithm":"sha256","period":60,"counter":null,"legacy_uri":"otpauth:\/\/totp\/x"},
            {"otp_type":"totp","account":"alone","service":null,"secret":"GEZDGNBV======","digits":6,"algorithm":"sha512",
             "period":30,"counter":null},
            {"otp_type":"hotp","account":"carol","service":"C","secret":"GEZDGNBV","digits":6,"algorithm":"sha1",
             "period":null,"counter":42},
            {"otp_type":"steamtotp","account":"dave","service":"Steam","secret":"GEZDGNBV","digits":5,"algorithm":"sha1",
             "period":30,"counter":null}
            """#)
        let found = try ExportSample(text).summary()
        expect(found.format, is: .twoFAuth)
        expect(
            found.lines,
            is: [
                "Größe | bob:büro | SHA256 8 60 s", "- | alone | SHA512 6 30 s", "C | carol | SHA1 6 counter 42",
                "Steam | dave | SHA1 6 30 s Steam",
            ])
        ExportSample(text).survives(every: 3)
    }

    @Test func accountsThatAKeyCannotHold() throws {
        let base = #""account":"n","service":"I","secret":"GEZDGNBV""#
        let rows = [
            #"{"otp_type":"motp",\#(base)}"#, "{\(base)}", #"{"otp_type":"totp",\#(base),"digits":10}"#,
            #"{"otp_type":"totp",\#(base),"algorithm":"md5"}"#, #"{"otp_type":"hotp",\#(base),"counter":4294967296}"#,
            #"{"otp_type":"totp","account":"n","service":"I","secret":"GEZDGNB!"}"#, "7",
        ]
        try expect(
            ExportSample(Self.text(rows.joined(separator: ","))).summary().lines.map {
                $0.split(separator: " ").last ?? ""
            }, is: ["type", "type", "digits", "algorithm", "counter", "secret", "type"])
    }

    @Test func otherSchemas() throws {
        for schema in ["2", "0", "null", #""1""#] {
            #expect(throws: ExportError.unreadable("2FAuth export of another schema", "ykit supports schema 1")) {
                try AuthenticatorExport.recognize(Array(Self.text("", schema: schema).utf8))
            }
        }
        let text = Self.text("").replacing("[]", with: "{}")
        #expect(throws: ExportError.malformed(.twoFAuth, "data")) {
            try AuthenticatorExport.recognize(Array(text.utf8))
        }
        try expect(ExportSample(Self.text("")).summary().lines, is: [])
    }
}
