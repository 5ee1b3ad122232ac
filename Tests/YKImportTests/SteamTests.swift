// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKImport
import YKOATH
import YKTestSupport
import YKWire

/// Files of Steam's authenticator, as `Tests/Peers/imports.py steam` writes them.
@Suite struct SteamTests {
    private static let account =
        #"{"shared_secret":"LAAc3NGHsD2Qbqpif167FUp4sBo=","revocation_code":"R12345","account_name":"dave","secret_1":"","#
        + #""identity_secret":"03C0VU5Zt6Oql12zco8GJUeHyrQ=","Session":{"SteamID":76561190000000000}}"#

    @Test func anAccount() throws {
        let sample = ExportSample(Self.account)
        let found = try sample.summary()
        #expect(found.format == .steam && found.lines == ["Steam | dave | SHA1 6 30 s Steam"])
        try expect(sample.secrets(), is: ["2c001cdcd187b03d906eaa627f5ebb154a78b01a"])
        let entry = try #require(try AuthenticatorExport.recognize(sample.bytes)?.entries().first)
        expect(entry.omitted, is: ["identity_secret", "revocation_code"])
        sample.survives()
    }

    @Test func severalAccountsOfTheApp() throws {
        let text =
            #"{"accounts":{"1":\#(Self.account),"2":{"shared_secret":"!","account_name":"bad"},"#
            + #""3":{"shared_secret":"AAAA","steamid":"765"},"4":{"shared_secret":"AAAA"},"5":{"account_name":"none"},"6":1}}"#
        let found = try ExportSample(text).summary()
        expect(
            found.lines,
            is: [
                "Steam | dave | SHA1 6 30 s Steam", "Steam:bad: secret", "Steam | 765 | SHA1 6 30 s Steam",
                "Steam | Steam | SHA1 6 30 s Steam", "Steam:none: secret", "Steam: secret",
            ])
    }

    @Test func whatCannotBeRead() throws {
        let manifest =
            #"{"encrypted":true,"first_run":true,"entries":[{"encryption_iv":"","encryption_salt":"","filename":"1.maFile"}]}"#
        let sealed = Base64.encode([UInt8](repeating: 7, count: 1024))
        for text in [manifest, manifest.replacing("true", with: "false"), sealed, sealed + "\n"] {
            #expect {
                try AuthenticatorExport.recognize(Array(text.utf8))
            } throws: {
                guard case .unreadable(let kind, let advice) = $0 as? ExportError else { return false }
                return kind.contains("maFile") && advice.contains("maFile")
            }
        }
        for text in [
            Base64.encode([UInt8](repeating: 7, count: 1023)), #"{"shared_secret":1}"#, #"{"accounts":{"1":{}}}"#,
        ] {
            #expect(try AuthenticatorExport.recognize(Array(text.utf8)) == nil)
        }
    }
}
