// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport

struct OtpauthTests {
    private static let good: [(String, OATHAccountID, String)] = [
        ("otpauth://totp/Acme:alice?secret=JBSWY3DPEHPK3PXP&issuer=Acme", id("Acme", "alice"), "SHA1 6 0"),
        ("  OTPAUTH://TOTP/Acme%3A%20alice?SECRET=jbsw%20y3dp-ehpk3pxp==\n", id("Acme", "alice"), "SHA1 6 0"),
        ("otpauth://totp/alice?secret=AA&issuer=My+Corp", id("My Corp", "alice"), "SHA1 6 0"),
        ("otpauth://totp/alice?secret=AA&issuer=My%20Corp", id("My Corp", "alice"), "SHA1 6 0"),
        ("otpauth://totp/Acme:alice?secret=AA&issuer=Acme%20Inc.", id("Acme Inc.", "alice"), "SHA1 6 0"),
        ("otpauth://totp/Acme:alice?secret=AA&issuer=", id("Acme", "alice"), "SHA1 6 0"),
        ("otpauth://totp/:alice?secret=AA", id(nil, "alice"), "SHA1 6 0"),
        ("otpauth://totp/a%C3%A9?secret=AA&image=http://x/y&lock=1", id(nil, "aé"), "SHA1 6 0"),
        ("otpauth://totp/a/b?secret=AA&period=60#frag", id(nil, "a/b", 60), "SHA1 6 0"),
        ("otpauth://totp/a?secret=AA&algorithm=sha256&digits=8", id(nil, "a"), "SHA256 8 0"),
        ("otpauth://totp/a?secret=AA&algorithm=HMAC-SHA512&digits=7", id(nil, "a"), "SHA512 7 0"),
        ("otpauth://totp/A:b?secret=AA&issuer=&algorithm=&digits=&period=", id("A", "b"), "SHA1 6 0"),
        ("otpauth://totp/a?secret=AA&algorithm=Algorithm.sha256", id(nil, "a"), "SHA256 6 0"),
        ("otpauth://totp/a?secret=AA&issuer=A&issuer=A&digits=7&digits=7", id("A", "a"), "SHA1 7 0"),
        ("otpauth://totp/a?secret=AA&counter=-1", id(nil, "a"), "SHA1 6 0"),
        ("otpauth://totp/a?secret=AA&counter=null", id(nil, "a"), "SHA1 6 0"),
        ("otpauth://hotp/a?secret=AA&counter=5&period=0", id(nil, "a", type: .hotp), "SHA1 6 5"),
        ("otpauth://totp/?secret=AA&issuer=GitHub", id(nil, "GitHub"), "SHA1 6 0"),
        ("otpauth://totp/GitHub:?secret=AA&issuer=GitHub", id(nil, "GitHub"), "SHA1 6 0"),
        ("otpauth://totp/Acme:?secret=AA", id(nil, "Acme"), "SHA1 6 0"),
        ("otpauth://totp/?secret=AA&issuer=Steam&encoder=steam", id("Steam", "Steam"), "SHA1 6 0"),
        (
            "otpauth://totp/A:b?secret=AA&amp;digits=8&amp;period=60&amp;algorithm=SHA256", id("A", "b", 60),
            "SHA256 8 0"
        ),
        ("otpauth://totp/A:b?digits=8&#38;secret=AA&amp;amp;period=60", id("A", "b", 60), "SHA1 8 0"),
        ("otpauth://hotp/a?secret=AA&counter=4294967295", id(nil, "a", type: .hotp), "SHA1 6 4294967295"),
        ("otpauth://hotp/a?secret=AA", id(nil, "a", type: .hotp), "SHA1 6 0"),
        ("otpauth://totp/Steam:frank?secret=AA&digits=5", id("Steam", "frank"), "SHA1 6 0"),
        ("otpauth://totp/frank?secret=AA&digits=5&issuer=steam", id("steam", "frank"), "SHA1 6 0"),
        ("otpauth://totp/frank?secret=AA&digits=5&encoder=steam", id("Steam", "frank"), "SHA1 6 0"),
        ("otpauth://steam/frank?secret=AA", id("Steam", "frank"), "SHA1 6 0"),
        ("otpauth://totp/Games:frank?secret=AA&issuer=Games&encoder=steam", id("Steam", "frank"), "SHA1 6 0"),
    ]

    private static func id(
        _ issuer: String?, _ name: String, _ period: Int = 30, type: OATHType = .totp
    ) -> OATHAccountID {
        OATHAccountID(issuer: issuer, name: name, period: .seconds(period), type: type)
    }

    /// Found by fuzzing: to Swift a colon and a combining character are one `Character`.
    @Test func aCombiningCharacterDoesNotHideTheColon() throws {
        let account = try OtpauthURI.parse("otpauth://totp/Acme:%CD%8Abob?secret=JBSWY3DPEHPK3PXP")
        #expect(account.id.issuer == "Acme" && account.id.name == "\u{34A}bob")
        try expect(OtpauthURI.parse(OtpauthURI.text(account)).id, is: account.id)
    }

    @Test(arguments: good)
    func reads(_ text: String, _ id: OATHAccountID, _ rest: String) throws {
        let account = try OtpauthURI.parse(text)
        expect(account.id, is: id)
        expect("\(account.algorithm) \(account.digits) \(account.counter)", is: rest)
    }

    @Test func readsTheSecret() throws {
        let account = try OtpauthURI.parse("otpauth://totp/a?secret=gezd%20gnbv-GY3TQOJQ")
        expect(account.secret.value.copyBytes(), is: Array("1234567890".utf8))
        #expect("\(account)".contains("‹secret›") && !"\(account)".contains("49, 50"))
    }

    private static let bad: [(String, OtpauthError)] = [
        ("", .init(.scheme, .missing)), ("http://totp/a?secret=AA", .init(.scheme, .notUnderstood("http"))),
        ("otpauth:/totp/a", .init(.scheme, .missing)), ("otpauth://", .init(.type, .missing)),
        ("otpauth:///a?secret=AA", .init(.type, .missing)),
        ("otpauth://motp/a?secret=AA", .init(.type, .notUnderstood("motp"))),
        ("otpauth://totp/a", .init(.secret, .missing)), ("otpauth://totp/a?", .init(.secret, .missing)),
        ("otpauth://totp/a?secret=", .init(.secret, .empty)), ("otpauth://totp/a?secret==", .init(.secret, .empty)),
        ("otpauth://totp/a?secret=A1", .init(.secret, .badBase32)),
        ("otpauth://totp/a?secret=A", .init(.secret, .incompleteBase32)),
        ("otpauth://totp/a?secret=GEZDGNBVG", .init(.secret, .incompleteBase32)),
        ("otpauth://totp/a%00b?secret=AA", .init(.label, .zeroCharacter)),
        ("otpauth://totp/a?secret=AA=A", .init(.secret, .badBase32)),
        ("otpauth://totp/a?secret=%zz", .init(.secret, .badEncoding)),
        ("otpauth://totp/?secret=AA", .init(.label, .empty)), ("otpauth://totp?secret=AA", .init(.label, .empty)),
        ("otpauth://totp/:?secret=AA&issuer=", .init(.label, .empty)),
        ("otpauth://hotp/a?secret=AA&2step_salt=8&2step_output=20", .init(.secret, .twoStep)),
        ("\"GitHub\",\"bob\",\"Tr0ub4dor\",\"http://x\"", .init(.scheme, .missing)),
        ("bob,pw,https://x", .init(.scheme, .missing)), ("otpauth://hunter2/a", .init(.type, .notUnderstood(nil))),
        ("otpauth://totp/a?secret=AA&algorithm=hunter2", .init(.algorithm, .notUnderstood(nil))),
        ("otpauth://totp/a?secret=AA&issuer=A&issuer=B", .init(.issuer, .duplicate)),
        ("otpauth://totp/a%FF?secret=AA", .init(.label, .badEncoding)),
        ("otpauth://totp/a?secret=AA&issuer=%FF", .init(.issuer, .badEncoding)),
        ("otpauth://totp/a?secret=AA&secret=AB", .init(.secret, .duplicate)),
        ("otpauth://totp/a?secret=AA&algorithm=MD5", .init(.algorithm, .notUnderstood("MD5"))),
        ("otpauth://totp/a?secret=AA&digits=9", .init(.digits, .outOfRange("9", 5...8))),
        ("otpauth://totp/a?secret=AA&digits=5", .init(.digits, .outOfRange("5", 6...8))),
        ("otpauth://totp/a?secret=AA&digits=six", .init(.digits, .outOfRange(nil, 5...8))),
        ("otpauth://totp/a?secret=AA&period=0", .init(.period, .outOfRange("0", 1...2_147_483_647))),
        ("otpauth://totp/a?secret=AA&period=-30", .init(.period, .outOfRange("-30", 1...2_147_483_647))),
        ("otpauth://totp/a?secret=AA&period=+30", .init(.period, .outOfRange(" 30", 1...2_147_483_647))),
        (
            "otpauth://totp/a?secret=AA&period=99999999999999999999",
            .init(.period, .outOfRange("99999999999999999999", 1...2_147_483_647))
        ),
        (
            "otpauth://hotp/a?secret=AA&counter=4294967296",
            .init(.counter, .outOfRange("4294967296", 0...4_294_967_295))
        ),
        ("otpauth://totp/a?secret=AA&x=%G0", .init(.query, .badEncoding)),
    ]

    @Test("Percent signs that escape nothing are literal, and an issuer may have a colon")
    func labels() throws {
        try expect(OtpauthURI.parse("otpauth://totp/100%25%20Shop:50%?secret=AA").id.text, is: "100% Shop:50%")
        try expect(OtpauthURI.parse("otpauth://totp/a%4?secret=AA").id.name, is: "a%4")
        let id = try OtpauthURI.parse("otpauth://totp/x.org:8000:b?secret=AA&issuer=x.org:8000").id
        expect(id.text, is: "x.org:8000:b")
    }

    @Test(arguments: bad)
    func refuses(_ text: String, _ error: OtpauthError) {
        #expect(throws: error) { try OtpauthURI.parse(text) }
        #expect(!error.description.isEmpty)
    }

    @Test func aFormCanBeFilledFromAnIncompleteURI() throws {
        let account = try OtpauthURI.parse("otpauth://totp/?secret=AA&digits=9&period=0&digits=7", validating: false)
        #expect(account.id.name.isEmpty && account.digits == 9)
        #expect(throws: OtpauthError(.secret, .missing)) { try OtpauthURI.parse("otpauth://totp/", validating: false) }
    }

    @Test func printsWhatItReads() throws {
        let accounts = [
            Virtual.account("alice@example.com", issuer: "Ä & B"),
            Virtual.account("bob", period: 60, algorithm: .sha512, digits: 8),
            Virtual.account("carol smith", issuer: "100%", type: .hotp, counter: 42),
        ]
        for account in accounts {
            let text = OtpauthURI.text(account)
            let read = try OtpauthURI.parse(text)
            #expect(read.id == account.id && read.counter == account.counter && read.digits == account.digits)
            expect(read.algorithm, is: account.algorithm)
            expect(read.secret.value.copyBytes(), is: account.secret.value.copyBytes())
        }
        #expect(
            OtpauthURI.text(accounts[0])
                == "otpauth://totp/%C3%84%20%26%20B:alice@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
                + "&issuer=%C3%84%20%26%20B&algorithm=SHA1&digits=6&period=30")
    }

    /// A colon that belongs to a name is percent-encoded, and is not taken for the one between issuer and name.
    @Test(arguments: [
        (":cme:alice", nil as String?, ":%3Acme%3Aalice?"), ("alice:", nil, ":alice%3A?"),
        ("a:b", "Acme", "Acme:a%3Ab?"), ("alice", "Acme", "Acme:alice?"), ("alice", nil, "alice?"),
    ])
    func colonsBelongToNames(name: String, issuer: String?, label: String) throws {
        let account = Virtual.account(name, issuer: issuer)
        let text = OtpauthURI.text(account)
        #expect(text.hasPrefix("otpauth://totp/\(label)"))
        try expect(OtpauthURI.parse(text).id, is: account.id)
        let known = OATHAccount(id: account.id, algorithm: .sha256, digits: 8)
        let bare = OtpauthURI.textWithoutSecret(known)
        #expect(bare.hasPrefix("otpauth://totp/\(label)") && bare.hasSuffix("algorithm=SHA256&digits=8&period=30"))
    }

    @Test(arguments: [
        ("Acme%3Aalice", "Acme:alice"), ("Acme%3aInc:alice", "Acme:Inc:alice"), ("A:b%3Ac", "A:b:c"),
        (":%20alice%20", "alice"), ("A%3A%20b%3Ac", "A:b:c"),
    ])
    func labels(label: String, text: String) throws {
        try expect(OtpauthURI.parse("otpauth://totp/\(label)?secret=AA").id.text, is: text)
    }

    @Test func anErrorNeverRepeatsTheSecret() {
        let text = "otpauth://totp/a?secret=TOPSECRET1"
        #expect(throws: OtpauthError.self) {
            do { _ = try OtpauthURI.parse(text) } catch {
                #expect(!"\(error)".uppercased().contains("TOPSECRET"))
                throw error
            }
        }
    }
}
