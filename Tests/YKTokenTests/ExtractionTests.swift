// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKToken
import YKWire

/// Where passwords stand, and what kind they are.
@Suite struct ExtractionTests {
    static let otp = "cccccccccccbhknhulrjtjknlfrndrvrfrukjhrubnhu"
    private static let kind = OTPToken.Kind(oneTime: otp)

    private func taken(_ uri: String) -> OTPToken? { OTPToken(in: NDEFMessage([NDEFURI(uri).record])) }

    @Test(arguments: [
        "https://my.yubico.com/yk/#", "https://my.yubico.com/neo/", "https://my.yubico.com/#", "http://a.b/c/d/",
        "https://example.org/login?x=1#", "https://www.example.org/#/otp=", "https://a.org/login?otp=",
        "https://a.org/?x=1&otp=", "https://demo.yubico.com/start/neo/",
    ])
    func places(_ prefix: String) throws {
        let token = try #require(taken(prefix + Self.otp))
        #expect(token.value == Self.otp && token.kind == Self.kind)
        expect(token.source, is: .uri(NDEFURI(prefix + Self.otp)))
    }

    @Test(arguments: [
        "https://example.org/page", "https://example.org/", "https://example.org", "mailto:a@b.c", "",
        "https://example.org/#section", "https://my.yubico.com/yk/#", "https://my.yubico.com/neo/",
    ])
    func noPassword(_ uri: String) { expect(taken(uri), is: nil) }

    @Test func aQueryEndsThePath() { expect(taken("https://a.b/c/\(Self.otp)?d=e/f")?.value, is: Self.otp) }

    @Test(
        arguments: [
            ("123456", nil, "123456"), ("12345678", nil, "12345678"), ("ubhe00000001123456", "ubhe00000001", "123456"),
            ("ubhe0000000112345678", "ubhe00000001", "12345678"), ("01000000000112345678", "010000000001", "12345678"),
        ] as [(String, String?, String)])
    func hotp(text: String, identifier: String?, code: String) {
        expect(OTPToken.Kind(oneTime: text), is: .hotp(identifier: identifier, code: code))
        expect(taken("https://my.yubico.com/yk/#" + text)?.value, is: text)
    }

    @Test(arguments: ["1234567", "12345a", "xyz", "aahe00000001123456", "", "123456789", "ubhe0000001123456"])
    func notHOTP(_ text: String) { expect(OTPToken.Kind(oneTime: text), is: nil) }

    @Test func staticPasswordsAsScanCodes() throws {
        // "Hello 1!" and Enter.
        let codes: [UInt8] = [0x8B, 0x08, 0x0F, 0x0F, 0x12, 0x2C, 0x1E, 0x9E, 0x28]
        let uri = NDEFURI(code: 4, rest: Array("my.yubico.com/yk/#".utf8) + codes)
        let message = NDEFMessage([uri.record])
        let token = try #require(OTPToken(in: message))
        #expect(token.kind == .fixed && token.value == "Hello 1!")
        expect(OTPToken(in: message, layout: .fr)?.value, is: "Hello &1")
        expect(OTPToken(in: message, layout: .modhex), is: nil)
        let path = NDEFURI(code: 4, rest: Array("example.org/a/".utf8) + codes)
        expect(OTPToken(in: NDEFMessage([path.record]))?.value, is: "Hello 1!")
        let enter = NDEFURI(code: 4, rest: Array("my.yubico.com/yk/#".utf8) + [0x28])
        expect(OTPToken(in: NDEFMessage([enter.record]))?.kind, is: .fixed)
    }

    @Test func staticPasswordsAsText() {
        expect(taken("https://my.yubico.com/yk/#correct-horse")?.value, is: "correct-horse")
        expect(taken("https://my.yubico.com/neo/correct-horse")?.kind, is: .fixed)
    }

    @Test(arguments: ["", "OTP: ", "otp:", "use this\n"])
    func texts(_ prefix: String) throws {
        for encoding in NDEFText.Encoding.allCases {
            let text = NDEFText(prefix + Self.otp, language: "de", encoding: encoding)
            let token = try #require(OTPToken(in: NDEFMessage([try text.record()])))
            #expect(token.value == Self.otp && token.source == .text(text))
        }
        expect(OTPToken(in: NDEFMessage([try NDEFText("hello world").record()])), is: nil)
        expect(OTPToken(in: NDEFMessage([try NDEFText("code 123456").record()]))?.value, is: "123456")
        let codes = NDEFText(String(decoding: [0x0B, 0x0C] as [UInt8], as: UTF8.self))
        expect(OTPToken(in: NDEFMessage([try codes.record()]))?.value, is: "hi")
    }

    @Test func theFirstRecordWithOne() throws {
        let poster = NDEFSmartPoster(NDEFURI("https://my.yubico.com/yk/#" + Self.otp))
        let message = NDEFMessage([
            NDEFRecord(.empty), NDEFURI("https://example.org/page").record, try poster.record(),
            NDEFURI("https://x.y/#123456").record,
        ])
        expect(OTPToken(in: message)?.value, is: Self.otp)
    }

    @Test func parsersOfTheCaller() {
        let message = NDEFMessage([NDEFURI("custom:secret=abc").record])
        expect(OTPToken(in: message), is: nil)
        let own = TokenParsers(uri: { uri in uri.rest.starts(with: "custom:".utf8) ? Array(uri.rest.suffix(3)) : nil })
        expect(OTPToken(in: message, parsers: own)?.value, is: "abc")
        let text = TokenParsers(text: { Array($0.text.uppercased().utf8) })
        expect(
            OTPToken(in: NDEFMessage([NDEFRecord(wellKnown: "T", payload: [0, 0x61])]), parsers: text)?.value, is: "A")
        expect(OTPToken(in: message, parsers: TokenParsers(uri: { _ in [] })), is: nil)
        expect(OTPToken(in: message, parsers: TokenParsers(uri: { _ in [0xFF, 0xFF] })), is: nil)
    }

    @Test func typedLines() {
        expect(OTPToken(typed: " " + Self.otp.uppercased() + "\n")?.kind, is: Self.kind)
        expect(OTPToken(typed: "hunter2\n"), is: OTPToken(.fixed, value: "hunter2", source: .typed))
        expect(OTPToken(typed: " \n"), is: nil)
    }
}
