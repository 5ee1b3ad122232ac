// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

@testable import YKCTKIP
@testable import YKSecurID

/// A server that answers what it was given, and keeps what it was asked.
final class RecordedServer: HTTPClient {
    private let answers: Mutex<[Result<HTTPResponse, HTTPError>]>
    let requests = Mutex<[HTTPRequest]>([])

    init(_ answers: [Result<HTTPResponse, HTTPError>]) { self.answers = Mutex(answers) }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        requests.withLock { $0.append(request) }
        let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try (next ?? .failure(.timedOut)).get()
    }
}

/// The client's number of the recorded exchange, then zeros.
struct RecordedRandom: RandomSource {
    func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] {
        count == 16 ? (try? Hex.decode("b72797e7f7af37a795fd231713871e28")) ?? [] : [UInt8](repeating: 0, count: count)
    }
}

struct CTKIPTests {
    private static func body(_ name: String) -> [UInt8] {
        guard let url = Bundle.module.url(forResource: "exchange/\(name)", withExtension: "http"),
            let data = try? Data(contentsOf: url),
            let end = data.range(of: Data("\r\n\r\n".utf8)) ?? data.range(of: Data("\n\n".utf8))
        else { return [] }
        return Array(data[end.upperBound...])
    }

    private func fail(_ comment: String) { Issue.record("\(comment)") }

    private static let code = "123456789012"

    private typealias Outcome = Result<SecurIDToken, CTKIPError>

    private func run(_ bodies: [[UInt8]], status: Int = 200, code: String = CTKIPTests.code) async -> Outcome {
        await run(RecordedServer(bodies.map { .success(HTTPResponse(status: status, body: $0)) }), code)
    }

    private func run(_ server: RecordedServer, _ code: String = CTKIPTests.code) async -> Outcome {
        do throws(CTKIPError) {
            guard let code = try? ActivationCode(code) else { throw .activationRefused }
            let url: HTTPURL
            do { url = try HTTPURL("https://localhost/ctkip/services/CtkipService") } catch { throw .http(error) }
            return .success(try await CTKIPClient(server, RecordedRandom()).token(from: url, code))
        } catch { return .failure(error) }
    }

    @Test func followsTheRecordedExchange() async throws {
        let server = RecordedServer(
            ["01-response", "02-response"].map { .success(HTTPResponse(status: 200, body: Self.body($0))) })
        let token = try await run(server).get()
        #expect(
            token.serial == "451959993894" && token.digits == 8 && token.interval == .seconds(60)
                && token.type == .pinpad)
        expect(Hex.encode(token.seed.value.copyBytes()), is: "571c39c73e879c3e808e68fced5fd191")
        #expect(token.expiry?.description == "2027-11-21" && token.user == "u08986")
        let requests = server.requests.withLock { $0 }
        // The recording's bodies are those of RSA's client; the second holds a number encrypted with other padding.
        #expect(
            String(decoding: requests[0].body ?? [], as: UTF8.self).trimmed
                == String(decoding: Self.body("01-request"), as: UTF8.self).trimmed)
        let second = String(decoding: requests[1].body ?? [], as: UTF8.self).trimmed
        expect(second.utf8.count, is: String(decoding: Self.body("02-request"), as: UTF8.self).trimmed.utf8.count)
        expect(requests.map { $0.fields.values(of: "SOAPAction") }, is: [["StartService"], ["ServerFinished"]])
        #expect(requests.allSatisfy { $0.fields.values(of: "Authorization") == [Self.code] })
    }

    @Test func refusesTheRecordedFault() async {
        let result = await run([Self.body("03-response")], code: "000000000000")
        guard case .failure(.activationRefused) = result else { return fail("\(result)") }
    }

    /// The vector of RSA's app.
    @Test func computesTheSeedOfRSA() throws {
        let modulus = """
            1np1DIf3HOHAK2ahcRzZCJsqIC1QMEqtsdanKSEn5CGtLCdLv9LbLUYo6cQxKSJtwvigpeDgBAb/UYcUNXy/7dY7rA5WpYlsaA9h5C9qzPMBHxVGS\
            Ie5k61uUbAwdFhCMfLh776wR//VZ7cuypo5d3cCbvgHGwqw4ZuECbKvONM=
            """
        let exact = try CTKIPHello(
            XMLParser.parse(
                Array(Self.hello(modulus, Base64.encode(try Hex.decode("79956b2fd8502465ad5c5fe99b9e7786"))).utf8)))
        let exchange = try CTKIPExchange(
            exact, number: Hex.decode("846cd036914f3bf536e7354ece07b35a"), padding: [UInt8](repeating: 1, count: 20))
        expect(Hex.encode(exchange.seed.value.copyBytes()), is: "4e410e4057f9cff2fab36e56695d904c")
        expect(Hex.encode(try exchange.mac()), is: "eca98d8e5bf211fb5167dada9c262296")
    }

    private static func hello(
        _ modulus: String, _ nonce: String, exponent: String = "AQAB", extended: String? = nil
    ) -> String {
        """
        <ServerHello SessionID="s" Status="Continue"><EncryptionKey><KeyValue><RSAKeyValue><Modulus>\(modulus)</Modulus>
        <Exponent>\(exponent)</Exponent></RSAKeyValue></KeyValue></EncryptionKey><Payload><Nonce>\(nonce)</Nonce></Payload>
        <Extensions><Extension><Data>\(extended ?? nonce)</Data></Extension></Extensions></ServerHello>
        """
    }

    @Test func refusesUnsoundHellos() throws {
        let modulus = Base64.encode([UInt8](repeating: 0xFF, count: 128))
        let nonce = Base64.encode([UInt8](repeating: 1, count: 16))
        _ = try CTKIPHello(XMLParser.parse(Array(Self.hello(modulus, nonce).utf8)))
        let texts = [
            "<Other/>", "<ServerHello/>", "<ServerHello Status='Continue'/>",
            "<ServerHello Status='Continue' SessionID='s'/>",
            Self.hello("", nonce), Self.hello("!", nonce), Self.hello(Base64.encode([1, 2, 3]), nonce),
            Self.hello(Base64.encode([UInt8](repeating: 0xFE, count: 128)), nonce),
            Self.hello(modulus, nonce, exponent: "AQ=="),
            Self.hello(modulus, "AAAA"),
            Self.hello(modulus, nonce, extended: Base64.encode([UInt8](repeating: 2, count: 16))),
            Self.hello(modulus, nonce).replacingOccurrences(of: "Payload", with: "P"),
        ]
        for text in texts {
            #expect(throws: CTKIPError.self, "\(text)") { _ = try CTKIPHello(XMLParser.parse(Array(text.utf8))) }
        }
    }

    /// The second reply of the recording with one thing changed in its inner XML.
    private func changed(_ old: String, _ new: String, in name: String = "02-response") throws -> [UInt8] {
        var text = String(decoding: Self.body(name), as: UTF8.self)
        let start = try #require(text.range(of: "<Response>")).upperBound
        let end = try #require(text.range(of: "</Response>")).lowerBound
        let inner = String(decoding: try Base64.decode(text[start..<end].filter { !$0.isWhitespace }), as: UTF8.self)
        #expect(inner.contains(old))
        text.replaceSubrange(
            start..<end, with: Base64.encode(Array(inner.replacingOccurrences(of: old, with: new).utf8)))
        return Array(text.utf8)
    }

    @Test(arguments: [
        ("Status=\"Success\"", "Status=\"Continue\""), ("SessionID=\"8e", "SessionID=\"8f"),
        ("ServerFinished", "Finished"),
        ("<OTPLength>8", "<OTPLength>x"), ("<OTPLength>8", "<OTPLength>9"),
        ("TimeInterval=\"60\"", "TimeInterval=\"7\""),
        ("NDUxOTU5OTkzODk0", "!"), ("2027-11-21", "2027-13-21"), ("iHEjApxS+OS4XLBWE44jsA==", "AAAA"),
    ])
    func refusesAlteredEnds(_ old: String, _ new: String) async throws {
        let result = await run([Self.body("01-response"), try changed(old, new)])
        guard case .failure = result else { return fail("accepted \(new)") }
    }

    @Test func comparesTheServersCode() async throws {
        let bodies = [Self.body("01-response"), try changed("iHEjApxS+OS4XLBWE44jsA==", "iHEjApxS+OS4XLBWE44jsQ==")]
        guard case .failure(.mac) = await run(bodies) else { return fail("a wrong MAC was accepted") }
    }

    private static func envelope(_ inner: String) -> String {
        "<Envelope><Body><ServerResponse><AuthData>\(code)</AuthData>\(inner)</ServerResponse></Body></Envelope>"
    }

    @Test(arguments: [
        "", "<html><body>hello</body></html>", "<!DOCTYPE html><html/>", "<Envelope/>", "<Envelope><Body/></Envelope>",
        "<Envelope><Body><ServerResponse><AuthData>1</AuthData></ServerResponse></Body></Envelope>",
        CTKIPTests.envelope(""), CTKIPTests.envelope("<Response>!</Response>"),
        CTKIPTests.envelope("<Response>AAAA</Response>"),
    ])
    func refusesOtherReplies(_ text: String) async {
        guard case .failure = await run([Array(text.utf8)]) else { return fail("accepted") }
        guard case .failure(.status(500)) = await run([Array(text.utf8)], status: 500) else {
            return fail("500")
        }
        guard case .failure(.status(404)) = await run([Array(text.utf8)], status: 404) else {
            return fail("404")
        }
    }

    @Test func namesFaultsWithoutTheCode() async {
        func fault(_ text: String) -> [UInt8] {
            Array("<Envelope><Body><Fault><faultstring>\(text)</faultstring></Fault></Body></Envelope>".utf8)
        }
        let named = await run([fault("x;nested exception is: com.rsa.Broken: no 123456789012 here")])
        guard case .failure(.fault("com.rsa.Broken", "no … here")) = named else { return fail("\(named)") }
        let plain = await run([fault("out of order")])
        guard case .failure(.fault("", "out of order")) = plain else { return fail("\(plain)") }
        guard case .failure(.http(.timedOut)) = await run(RecordedServer([])) else {
            return fail("no time-out")
        }
    }

    /// A server may repeat the code wherever its reply names something.
    @Test func keepsTheCodeOutOfErrors() async throws {
        let code = "secret987"
        func text(_ inner: String) -> [UInt8] { Array(inner.utf8) }
        let named = Self.envelope("<Response>\(Base64.encode(text("<a\(code)/>")))</Response>")
            .replacingOccurrences(of: Self.code, with: code)
        let bodies = [text("<a\(code)></b>"), text("<a>&\(code.prefix(9));</a>"), text(named)]
        let place = HTTPError.redirected(to: "https://h/?\(code.uppercased())", status: 302)
        var outcomes: [Outcome] = []
        for body in bodies { outcomes.append(await run([body], code: code)) }
        for error in [place, .failed(1, code), .unreachable(code), .certificate(code)] {
            outcomes.append(await run(RecordedServer([.failure(error)]), code))
        }
        for outcome in outcomes {
            guard case .failure(let error) = outcome else { return fail("accepted") }
            #expect(!"\(error)".lowercased().contains(code), "\(error)")
        }
        let code1 = try ActivationCode(code)
        for error in [CTKIPError.token(.field(code)), .fault(kind: code, code), .reply(code)] {
            #expect(!"\(error.without(code1))".contains(code))
        }
    }

    @Test func namesRecordedMessages() throws {
        let code = try ActivationCode(Self.code)
        try expect(CTKIPClient.message(of: Self.body("01-response"), code), is: "ServerHello")
        try expect(CTKIPClient.message(of: Self.body("02-response"), code), is: "ServerFinished")
        #expect(throws: CTKIPError.activationRefused) {
            _ = try CTKIPClient.message(of: Self.body("03-response"), code)
        }
    }

    @Test func saysThatThereAreNoRandomBytes() async throws {
        let server = RecordedServer([.success(HTTPResponse(status: 200, body: Self.body("01-response")))])
        let url = try HTTPURL("https://localhost/ctkip/services/CtkipService")
        await #expect(throws: CTKIPError.random) {
            _ = try await CTKIPClient(server, FailingRandom()).token(from: url, ActivationCode(Self.code))
        }
    }

    @Test func acceptsWhatTheSchemaAllows() async throws {
        let bodies = [
            Self.body("01-response"), try changed("2027-11-21", "", in: "02-response"),
        ]
        guard case .failure(.reply("KeyExpiryDate")) = await run(bodies) else { return fail("a time without a day") }
        let whole = try changed("NDUxOTU5OTkzODk0", Base64.encode(Array("451".utf8)))
        let token = try await run([Self.body("01-response"), whole]).get()
        expect(token.serial, is: "000000000451")
    }

    @Test func authenticatesWithCMAC() throws {
        // RFC 4493 §4.
        let key = Secret(try Hex.decode("2b7e151628aed2a6abf7158809cf4f3c"))
        let message = try Hex.decode("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411")
        expect(Hex.encode(try AESCMAC.code([], key: key)), is: "bb1d6929e95937287fa37d129b756746")
        expect(
            Hex.encode(try AESCMAC.code(Array(message.prefix(16)), key: key)), is: "070a16b46b4d4144f79bdd9dd04a287c")
        expect(Hex.encode(try AESCMAC.code(message, key: key)), is: "dfa66747de9ae63030ca32611497c827")
    }
}
