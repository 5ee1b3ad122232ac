// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// Links, and two-step enrolment of accounts with codes.
struct LinkTests {
    private static let push =
        "otpauth://pipush/PIPU0000CAFE?url=https%3A//pi.example/ttype/push&ttl=10&issuer=privacyIDEA"
        + "&enrollment_credential=9311ee50678983c0f29d3d843f86e39405e2b427&v=1&serial=PIPU0000CAFE&sslverify=1"
        + "&poll_only=True"
    private static let container =
        "pia://container/SMPH1?issuer=x&nonce=1&time=2&url=https%3A//pi.example&serial=SMPH1"
        + "&key_algorithm=secp384r1&hash_algorithm=SHA256"
    private static let totp = "otpauth://totp/TOTP1?secret=JBSWY3DPEHPK3PXP&serial=TOTP1"

    @Test(
        arguments: [
            (push, ApprovalLink.Kind.enrollment, "push"),
            (push.replacing("otpauth:", with: "pia:"), .enrollment, "push"),
            ("tiqrenroll://https://pi.example/ttype/tiqr?action=metadata&serial=TiQR1", .enrollment, "tiqr"),
            ("tiqrauth://alice@org.example/1/2/name", .onlineAuth, "tiqr"), (totp, .enrollment, "totp"),
            ("otpauth://hotp/A:b?secret=JBSWY3DPEHPK3PXP&counter=1", .enrollment, "hotp"),
            (container, .container, "container"),
            ("otpauth-migration://offline?data=AA", .transfer, "otpauth-migration"),
            ("12.50 CHF to ACME", .unknown, ""), ("WIFI:S:x;;", .unknown, ""), ("mailto:a@b", .unknown, ""),
            ("fido:/123", .unknown, ""),
            ("  PIA://container".lowercased() + " is a scheme", .invalid, ""),
            ("https://example.com/", .invalid, ""), ("", .invalid, ""), ("a\u{1B}[2Jb", .invalid, ""),
            ("a\u{202E}b", .invalid, ""), (String(repeating: "a", count: 1025), .invalid, ""),
            ("otpauth://steam2/x?secret=AA", .invalid, ""), ("pia://other/x?v=1", .invalid, ""),
        ])
    func kinds(_ text: String, _ kind: ApprovalLink.Kind, _ name: String) {
        let link = try? ApprovalLink(text)
        expect(link?.kind ?? .invalid, is: kind)
        expect(link?.protocolName ?? "", is: name)
    }

    @Test func serversAndSerials() throws {
        let expected: [(String, String?, String?)] = [
            (Self.push, "pi.example", "PIPU0000CAFE"), (Self.container, "pi.example", "SMPH1"),
            ("tiqrenroll://https://pi.example:8443/x?serial=TiQR1", "pi.example:8443", "TiQR1"),
            ("tiqrenroll://https://pi.example/x", "pi.example", nil), (Self.totp, nil, "TOTP1"),
            ("tiqrauth://org.example/1/2", nil, nil), ("pay", nil, nil),
        ]
        for (text, server, serial) in expected {
            let link = try ApprovalLink(text)
            expect(link.server, is: server)
            expect(link.serial, is: serial)
        }
    }

    @Test(
        arguments: [
            "x", "://x", "a b://c", "é://x", "a://b?c=%ZZ", "a://b?c=1&c=2",
            "a://" + String(repeating: "x", count: 4096),
        ])
    func noLinks(_ text: String) { #expect(throws: ApprovalError.self) { try LinkQuery(text) } }

    @Test func parts() throws {
        let link = try LinkQuery("A-b://host:1/path/x?one=%C3%A9&two=&three")
        expect(link.scheme, is: "a-b")
        expect(link.authority, is: "host:1")
        expect(link.path, is: "path/x")
        expect(link["one"], is: "é")
        expect(link["three"]?.isEmpty, is: true)
        #expect(throws: ApprovalError.self) { try link.required("two") }
        #expect(throws: ApprovalError.self) { try link.required("four") }
        #expect(try LinkQuery("a://b").path.isEmpty)
        try expect(link.flag("four"), is: nil)
    }

    private static let twoStep =
        "otpauth://totp/TOTP000073FD?secret=U3Z2KZTJUL7GXGGF4IQNWJUBAFKXEXUX&period=30&digits=6&creator=privacyidea"
        + "&issuer=privacyIDEA&serial=TOTP000073FD&2step_salt=8&2step_output=20&2step_difficulty=10000"

    @Test func twoSteps() throws {
        let vector = try #require(try OCRATests.vectors("privacyidea")["twoStep"])
        let link = try CodeLink(try #require(vector["url"]?.string))
        expect(link.serial, is: "TOTP000073FD")
        let step = try #require(link.twoStep)
        expect([step.saltSize, step.secretSize, step.rounds], is: [8, 20, 10000])
        let part = try step.part(CountingRandom())
        expect(Hex.encode(part.value.copyBytes()), is: vector["devicePart"]?.string)
        expect(TwoStep.shown(part.value), is: vector["shownToTheUser"]?.string)
        let seed = try step.secret(server: link.account.secret.value, part: part.value)
        expect(Hex.encode(seed.value.copyBytes()), is: vector["seed"]?.string)
        #expect(throws: ApprovalError.random) { try step.part(FailingRandom()) }
        try expect(CodeLink(Self.totp).twoStep, is: nil)
    }

    @Test(arguments: ["Pia:TOTP9", "TOTP%7C9", "", "TOTP%209"])
    func whatIsNoSerialNumber(_ serial: String) throws {
        let text = Self.twoStep.replacing("serial=TOTP000073FD", with: "serial=\(serial)")
        try expect(CodeLink(text).serial, is: nil)
    }

    @Test(
        arguments: [
            ("2step_salt=8", "2step_salt=0"), ("2step_salt=8", "2step_salt=65"), ("2step_salt=8", "2step_salt=x"),
            ("2step_output=20", "2step_output=13"), ("2step_difficulty=10000", "2step_difficulty=1000001"),
            ("&2step_difficulty=10000", ""), ("secret=U3Z2KZTJUL7GXGGF4IQNWJUBAFKXEXUX&", ""),
            ("digits=6", "digits=99"),
        ])
    func badCodeLinks(_ part: String, _ other: String) {
        #expect(throws: ApprovalError.self) { try CodeLink(Self.twoStep.replacing(part, with: other)) }
    }

    @Test func accountsWithCodes() throws {
        let link = try CodeLink(Self.totp.replacing("?", with: "?period=60&issuer=Acme&"))
        let account = CodeAccount(
            id: link.account.id, name: "mail", serial: "TOTP1", server: "pi.example", container: "SMPH1", added: 7)
        expect(CodeAccount(account.stored), is: account)
        expect(account.account.kind, is: .totp)
        expect(account.id.period, is: .seconds(60))
        let hotp = try CodeLink("otpauth://hotp/A:b?secret=JBSWY3DPEHPK3PXP")
        let counted = CodeAccount(id: hotp.account.id, name: "", serial: "H", server: "", container: nil, added: 0)
        expect(CodeAccount(counted.stored)?.id.type, is: .hotp)
        for value: JSONValue? in [nil, "zz", "", .string(String(repeating: "00", count: 65))] {
            var stored = account.stored
            stored.details["oath"] = value
            expect(CodeAccount(stored), is: nil)
        }
    }

    @Test func accountsForOfflineCodes() throws {
        let suite = try OCRASuite("OCRA-1:HOTP-SHA1-6:C-QN08")
        var account = OCRAAccount(suite, name: "bank", serial: nil, issuer: "Bank", added: 7)
        account.counter = 5
        expect(OCRAAccount(account.stored)?.counter, is: 5)
        expect(OCRAAccount(account.stored)?.suite, is: suite)
        expect(account.account.serial, is: "bank")
        #expect(OCRAAccount.isSerial("OCRA0001"))
        for (name, value): (String, JSONValue?) in [("suite", "x"), ("suite", nil), ("counter", -1), ("counter", nil)] {
            var stored = account.stored
            stored.details[name] = value
            expect(OCRAAccount(stored), is: nil)
        }
    }
}
