// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHTTP
import YKTestSupport
import YKWire

@testable import YKApproval

/// What is signed, and what is checked before anything is shown.
struct PushTests {
    private let vectors: PushVectors

    init() throws { vectors = try PushVectors() }

    @Test func signsTheTextsThatTheServerAccepts() throws {
        let (nonce, serial) = (PushVectors.nonce, PushVectors.serial)
        let timestamp = "2026-11-22T04:30:00.000000+00:00"
        let texts = [
            "poll": PushText.poll(serial: serial, timestamp: timestamp),
            "approve": PushText.approval(of: nonce, serial: serial),
            "approve with number": PushText.approval(of: nonce, serial: serial, number: "14"),
            "decline": PushText.decline(of: nonce, serial: serial),
            "decline, not started by me": PushText.decline(of: nonce, serial: serial, .unknownTrigger),
            "decline, cancelled": PushText.decline(of: nonce, serial: serial, .cancelled),
            "new push address": PushText.address("topic-2", serial: serial, timestamp: timestamp),
        ]
        expect(texts.count, is: vectors.vectors.count { $0.isDevice })
        for (what, text) in texts {
            let vector = try vectors.vector(what)
            expect(text, is: vector.text)
            expect(PushText.encoded(try vectors.device.sign(Array(text.utf8), .sha256)), is: vector.signature)
        }
        expect(Base64.encodeURL(vectors.device.publicKey.subjectPublicKeyInfo), is: vectors.publicKeyParameter)
    }

    @Test func verifiesTheServersSignatures() throws {
        let text = vectors.serverPublicKey.filter { !$0.isNewline }
        try expect(PublicKey(rsaPublicKey: Base64.decode(text)), is: vectors.server.publicKey)
        let plain = try vectors.vector("challenge")
        let request = try vectors.request(try vectors.challenge(signature: plain.signature))
        #expect(request.signedText == plain.text && request.question == "Pay 12.50 CHF to ACME?")
        #expect(request.title == "Zürich" && request.numbers == nil && request.id == "NWN6XGVS")
        let numbered = try vectors.vector("challenge with numbers")
        let other = try vectors.request(try vectors.challenge(numbers: "14,16,29", signature: numbered.signature))
        #expect(other.signedText == numbered.text && other.numbers == ["14", "16", "29"])
        let capabilities = try vectors.vector("capabilities (RFC 8785 JSON)")
        try expect(vectors.signed(capabilities.text), is: capabilities.signature)
        #expect(request.takesReason)
        #expect(try !vectors.request(try vectors.challenge(takesReason: false)).takesReason)
    }

    @Test func readsNothingFromARequestThatIsNotSigned() throws {
        let good = try vectors.challenge(numbers: "14,16,29")
        for name in ["nonce", "question", "title", "serial", "url", "sslverify", "require_presence", "signature"] {
            var forged = try #require(good.object)
            forged[name] = name == "sslverify" ? "0" : "X"
            #expect(throws: PushRequestFault.signature) { try vectors.request(.object(forged)) }
            forged[name] = 5
            #expect(throws: PushRequestFault.malformed(name)) { try vectors.request(.object(forged)) }
            forged[name] = nil
            #expect(throws: PushRequestFault.self) { try vectors.request(.object(forged)) }
        }
        #expect(throws: PushRequestFault.malformed("signature")) { try vectors.request("nonce") }
        let device = try PushRequest(
            good, serial: PushVectors.serial, url: PushVectors.url, key: vectors.server.publicKey)
        expect(device.challenge, is: good)
        #expect(throws: PushRequestFault.signature) {
            try PushRequest(
                good, serial: PushVectors.serial, url: PushVectors.url, key: vectors.device.publicKey)
        }
    }

    @Test func refusesRequestsForOthers() throws {
        #expect(throws: PushRequestFault.otherSerial("PIPU00000001")) {
            try vectors.request(try vectors.challenge(serial: "PIPU00000001"))
        }
        #expect(throws: PushRequestFault.otherServer("https://evil.example/ttype/push")) {
            try vectors.request(try vectors.challenge(url: "https://evil.example/ttype/push"))
        }
        let spelled = "https://PI.example:443/ttype/push"
        try expect(vectors.request(try vectors.challenge(url: spelled)).nonce, is: PushVectors.nonce)
        #expect(throws: PushRequestFault.malformed("nonce")) {
            try vectors.request(try vectors.challenge(nonce: "abc|def"))
        }
    }

    /// The bars of the signed text are not escaped: numbers must not become something else.
    @Test func keepsNumbersFromBeingHiddenInOtherMembers() throws {
        let question = "Pay?"
        let text = "\(PushVectors.nonce)|\(PushVectors.url)|\(PushVectors.serial)|\(question)|t|1|14,16"
        let signature = try vectors.signed(text)
        #expect(throws: PushRequestFault.malformed("sslverify")) {
            try vectors.request(
                try vectors.challenge(question: question, title: "t", sslverify: "1|14,16", signature: signature))
        }
        #expect(throws: PushRequestFault.malformed("sslverify")) {
            try vectors.request(
                try vectors.challenge(question: question, title: "t|1", sslverify: "14,16", signature: signature))
        }
        #expect(throws: PushRequestFault.malformed("sslverify")) {
            try vectors.request(try vectors.challenge(sslverify: "2"))
        }
        for list in [
            "", "14", "14,14", "14,", "14,\u{202E}15", Array(repeating: "1", count: 600).joined(separator: ","),
        ] {
            #expect(throws: PushRequestFault.malformed("require_presence")) {
                try vectors.request(try vectors.challenge(numbers: list))
            }
        }
    }

    @Test func takesCapabilitiesOnlyWithTheirSignature() throws {
        var other = try #require(try vectors.challenge(nonce: "OTHER").object)
        let good = try #require(try vectors.challenge().object)
        other["nonce"] = good["nonce"]
        other["signature"] = good["signature"]
        #expect(try !vectors.request(.object(other)).takesReason)
        for capabilities in ["[]", "{", "{\"decline_reason\": true, \"n\": 1.5}", ""] {
            var object = good
            object["capabilities"] = .string(capabilities)
            #expect(try !vectors.request(.object(object)).takesReason)
        }
        var none = good
        none["capabilities"] = nil
        #expect(try !vectors.request(.object(none)).takesReason)
    }

    @Test func writesCanonicalJSON() throws {
        // RFC 8785 §3.2.3: the order is that of UTF-16 code units.
        let value = try JSONValue(
            parsing: Array(
                #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#
                    .utf8))
        #expect(
            CanonicalJSON.text(value)
                == "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        )
        #expect(
            CanonicalJSON.text(["a": [nil, true, false, -7, "\"\\/\u{8}\t\n\u{C}\r\u{1F}\u{7F}"]])
                == "{\"a\":[null,true,false,-7,\"\\\"\\\\/\\b\\t\\n\\f\\r\\u001f\u{7F}\"]}")
        #expect(CanonicalJSON.text([1.5]) == nil && CanonicalJSON.text(["a": .int(.max)]) == nil)
    }

    @Test func showsOneHarmlessLine() {
        expect(PushRequest.shown("a\u{1B}[31mb\u{202E}c\nd\te", limit: 200), is: "a[31mbc d e")
        expect(PushRequest.shown(String(repeating: "x", count: 201), limit: 200).unicodeScalars.count, is: 200)
        #expect(PushRequest.shown(String(repeating: "x", count: 200), limit: 200).hasSuffix("x"))
        expect(
            PushRequest.shown("e" + String(repeating: "\u{301}", count: 900), limit: 20).unicodeScalars.count, is: 20)
    }
}

/// The link that enrols a push account.
struct PushLinkTests {
    private static let recorded =
        "otpauth://pipush/PIPU0000CAFE?url=https%3A//pi.example/ttype/push&ttl=10&issuer=privacyIDEA"
        + "&enrollment_credential=9311ee50678983c0f29d3d843f86e39405e2b427&v=1&serial=PIPU0000CAFE&sslverify=1"
        + "&poll_only=True"

    @Test func readsTheServersLink() throws {
        try expect(PushVectors().link, is: Self.recorded)
        let link = try PushLink(Self.recorded)
        #expect(link.url.description == "https://pi.example/ttype/push" && link.serial == "PIPU0000CAFE")
        let credential = String(decoding: link.credential.value.copyBytes(), as: UTF8.self)
        expect(credential, is: "9311ee50678983c0f29d3d843f86e39405e2b427")
        #expect(link.label == "PIPU0000CAFE" && link.issuer == "privacyIDEA" && link.isPollOnly)
        #expect(!link.asksForNoVerification && link.unlock.isEmpty)
    }

    @Test func readsOtherForms() throws {
        let text = Self.recorded.replacing(
            "otpauth://pipush/PIPU0000CAFE", with: "PIA://pipush/alice%40test%20%26%20S%C3%B6hne"
        )
        .replacing("sslverify=1", with: "sslverify=0").replacing("poll_only=True", with: "poll_only=False&pin=True")
        let link = try PushLink(text + "&image=https%3A//x&unknown=1&app_force_unlock=biometric")
        #expect(link.label == "alice@test & Söhne" && link.asksForNoVerification && !link.isPollOnly)
        expect(link.unlock, is: "biometric")
        try expect(PushLink(text).unlock, is: "pin")
    }

    @Test func refusesWhatIsNotSafeOrNotKnown() {
        #expect(throws: ApprovalError.unsupportedVersion("2")) {
            try PushLink(Self.recorded.replacing("v=1", with: "v=2"))
        }
        let wrong = [
            ("url=https%3A//pi.example/ttype/push", "url=http%3A//pi.example/ttype/push"),
            ("url=https%3A//pi.example/ttype/push&", ""), ("serial=PIPU0000CAFE&", ""),
            ("serial=PIPU0000CAFE", "serial=PIPU%7C0"), ("serial=PIPU0000CAFE", "serial=A&serial=B"),
            ("v=1&", ""), ("enrollment_credential=9311ee50678983c0f29d3d843f86e39405e2b427&", ""),
            ("issuer=privacyIDEA", "issuer=%FF"), ("issuer=privacyIDEA", "issuer=%4"),
            ("otpauth://pipush", "otpauth://totp"), ("?", "#"),
            ("issuer=privacyIDEA", "issuer=" + String(repeating: "x", count: 5000)),
            ("9311ee50678983c0f29d3d843f86e39405e2b427", String(repeating: "x", count: 300)),
        ]
        for (from, to) in wrong {
            #expect(throws: ApprovalError.self, "\(to)") { try PushLink(Self.recorded.replacing(from, with: to)) }
        }
    }
}
