// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKTestSupport
import YKToken
import YKTransport
import YKWire

/// Validation servers: honest, out of order, and others.
@Suite struct ValidationTests {
    private static let otp = try? YubicoOTP(parsing: ExtractionTests.otp)
    private static let key = SharedSecret(Secret(Array("0123456789abcdef".utf8)))

    /// A server of the protocol's: what it answers is told by a closure that gets the parameters.
    private final class Server: ValidationTransport {
        typealias Answer =
            @Sendable (_ address: String, _ values: [String: String]) throws(ValidationTransportError) -> (Int, String)
        let answer: Answer
        let asked = Mutex<[String]>([])

        init(_ answer: @escaping Answer) { self.answer = answer }

        func get(
            _ address: String, limit: Int, timeout: Duration
        ) async throws(ValidationTransportError) -> (status: Int, body: [UInt8]) {
            asked.withLock { $0.append(address) }
            let query = address.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
            var values: [String: String] = [:]
            for pair in query.split(separator: "&") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                values[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
            }
            let (status, text) = try answer(address, values)
            return (status, Array(text.utf8))
        }
    }

    private static func signed(_ values: [String: String], _ key: SharedSecret = key) -> String {
        let line = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        let signature = Base64.encode(HashAlgorithm.sha1.hmac(key: key.value, Array(line.utf8)))
        return (["h=\(signature)"] + values.map { "\($0.key)=\($0.value)" }).joined(separator: "\r\n") + "\r\n\r\n"
    }

    private static func good(_ values: [String: String], _ status: String = "OK") -> [String: String] {
        [
            "otp": values["otp"] ?? "", "nonce": values["nonce"] ?? "", "status": status,
            "t": "2026-01-01T00:00:00Z0000",
            "sessioncounter": "19", "sessionuse": "17", "sl": "100", "timestamp": "1",
        ]
    }

    private func verify(
        at servers: [String] = ["https://a.example/wsapi/2.0/verify"], key: SharedSecret? = key, _ server: Server
    ) async throws -> ValidationReply {
        let environment = ServiceEnvironment(timeout: .seconds(5))
        let client = ValidationClient(
            servers: servers, client: 42, key: key, transport: server, environment: environment)
        return try await client.verify(try #require(Self.otp), syncLevel: 50, timeout: .seconds(3)).reply
    }

    private func fault(
        at servers: [String] = ["https://a.example/v"], key: SharedSecret? = key, _ answer: @escaping Server.Answer
    ) async -> OTPValidationError? {
        do {
            _ = try await verify(at: servers, key: key, Server(answer))
            return nil
        } catch { return error as? OTPValidationError }
    }

    @Test func aSignedYes() async throws {
        let server = Server { _, values throws(ValidationTransportError) in (200, Self.signed(Self.good(values))) }
        let reply = try await verify(server)
        #expect(reply.status == .ok && reply.counter == OTPCounter(use: 19, session: 17) && reply.values["sl"] == "100")
        let address = try #require(server.asked.withLock { $0.first })
        #expect(address.hasPrefix("https://a.example/wsapi/2.0/verify?id=42&nonce="))
        #expect(address.contains("&otp=\(ExtractionTests.otp)&sl=50&timeout=3&timestamp=1&h="))
        #expect(address.hasSuffix("%3D"))
    }

    @Test("the signed request of the protocol's own example")
    func requestVector() throws {
        let otp = try YubicoOTP(parsing: "vvungrrdhvtklknvrtvuvbbkeidikkvgglrvdgrfcdft")
        let request = ValidationRequest(
            client: 1, otp: otp, nonce: "jrFwbaYFhn0HoxZIsd9LQ6w2ceU", wantsCounters: false)
        let key = SharedSecret(Secret(Array("secret".utf8)))
        let line = "id=1&nonce=jrFwbaYFhn0HoxZIsd9LQ6w2ceU&otp=vvungrrdhvtklknvrtvuvbbkeidikkvgglrvdgrfcdft"
        let expected = Base64.encode(HashAlgorithm.sha1.hmac(key: key.value, Array(line.utf8)))
        #expect(request.address(at: "https://s/v?a=b", key: key).hasPrefix("https://s/v?a=b&" + line + "&h="))
        #expect(
            request.address(at: "https://s", key: key).hasSuffix(
                expected.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")))
        expect(request.address(at: "https://s", key: nil), is: "https://s?" + line)
    }

    @Test(arguments: [
        "BAD_OTP", "REPLAYED_OTP", "BAD_SIGNATURE", "MISSING_PARAMETER", "NO_SUCH_CLIENT", "OPERATION_NOT_ALLOWED",
        "BACKEND_ERROR", "NOT_ENOUGH_ANSWERS", "REPLAYED_REQUEST", "SOMETHING_NEW",
    ])
    func everyNo(_ word: String) async {
        let found = await fault { _, values throws(ValidationTransportError) in
            (200, Self.signed(Self.good(values, word)))
        }
        expect(found, is: .refused(ValidationStatus(rawValue: word), server: "https://a.example/v"))
    }

    @Test func repliesThatDoNotCount() async {
        let server = "https://a.example/v"
        #expect(
            await fault { _, values throws(ValidationTransportError) in
                (200, Self.signed(Self.good(values), SharedSecret(Secret([1]))))
            }
                == .badReplySignature(server: server))
        await expect(
            fault { _, values throws(ValidationTransportError) in
                (200, Self.good(values).map { "\($0.key)=\($0.value)" }.joined(separator: "\n"))
            }, is: .badReplySignature(server: server))
        await expect(
            fault { _, values throws(ValidationTransportError) in
                (200, Self.signed(Self.good(values, "BAD_OTP")).replacing("BAD_OTP", with: "OK"))
            }, is: .badReplySignature(server: server))
        for name in ["otp", "nonce"] {
            await expect(
                fault { _, values throws(ValidationTransportError) in
                    (200, Self.signed(Self.good(values).merging([name: "x"]) { $1 }))
                }, is: .otherReply(server: server))
        }
        await expect(
            fault { _, _ throws(ValidationTransportError) in (302, "") }, is: .http(status: 302, server: server))
        #expect(
            await fault { _, _ throws(ValidationTransportError) in throw ValidationTransportError("gone") }
                == .unreachable(server: server, reason: "gone"))
        for text in ["", "h=x", "status=OK\nstatus=OK", String(repeating: "a", count: 9000), "\u{0}"] {
            guard case .malformed = await fault({ _, _ throws(ValidationTransportError) in (200, text) }) else {
                Issue.record("\(text.prefix(20))")
                continue
            }
        }
        #expect(throws: WireError.self) { try ValidationReply(parsing: [0xFF, 0xFE]) }
    }

    @Test func aRefusalNeedsNoSignature() async {
        for word in ["NO_SUCH_CLIENT", "BAD_SIGNATURE"] {
            let found = await fault { _, _ throws(ValidationTransportError) in (200, "status=\(word)") }
            expect(found, is: .refused(ValidationStatus(rawValue: word), server: "https://a.example/v"))
        }
        let found = await fault { _, _ throws(ValidationTransportError) in (200, "status=REPLAYED_OTP") }
        expect(found, is: .badReplySignature(server: "https://a.example/v"))
    }

    @Test("a refusal that is signed with no key is a refusal, and nothing else is")
    func unsignedRefusals() async {
        let server = "https://a.example/v"
        let nobody = SharedSecret(Secret([]))
        for (word, isRefusal) in [("BAD_OTP", true), ("OK", false), ("REPLAYED_OTP", false)] {
            let found = await fault { _, values throws(ValidationTransportError) in
                (200, Self.signed(Self.good(values, word), nobody))
            }
            expect(
                found, is: (isRefusal ? .unsignedRefusal(.badOTP, server: server) : .badReplySignature(server: server)))
        }
        let bare = await fault { _, _ throws(ValidationTransportError) in (200, "status=BAD_OTP") }
        expect(bare, is: .unsignedRefusal(.badOTP, server: server))
    }

    @Test func serversInTurn() async throws {
        let server = Server { address, values throws(ValidationTransportError) in
            switch address.split(separator: "/")[1] {
            case "a.example": throw ValidationTransportError("time is over")
            case "b.example": (500, "")
            case "c.example": (200, Self.signed(Self.good(values, "NOT_ENOUGH_ANSWERS")))
            case "d.example": (200, "<html>")
            default: (200, Self.signed(Self.good(values)))
            }
        }
        let list = ["a", "b", "c", "d", "e", "f"].map { "https://\($0).example/v" }
        try await expect(verify(at: list, server).status, is: .ok)
        let asked = server.asked.withLock { $0 }
        expect(asked.count, is: 5)
        expect(Set(asked.map { $0.split(separator: "&")[1] }).count, is: 1, "the same nonce")
    }

    @Test func aNoEndsTheRound() async {
        let server = Server { _, values throws(ValidationTransportError) in
            (200, Self.signed(Self.good(values, "REPLAYED_OTP")))
        }
        await #expect(throws: OTPValidationError.self) { try await verify(at: ["https://a", "https://b"], server) }
        expect(server.asked.withLock { $0.count }, is: 1)
    }

    @Test func whoMayAnswer() async {
        let never: Server.Answer = { _, _ throws(ValidationTransportError) in (200, "status=OK") }
        await expect(fault(at: ["http://a"], key: nil, never), is: .unprotected(server: "http://a"))
        await expect(fault(at: ["ftp://a"], never), is: .unprotected(server: "ftp://a"))
        await expect(fault(at: [], never), is: .noServer)
        let unsigned: Server.Answer = { _, values throws(ValidationTransportError) in
            (200, "status=OK\notp=\(values["otp"] ?? "")\nnonce=\(values["nonce"] ?? "")\n")
        }
        await expect(fault(at: ["https://a"], key: nil, unsigned), is: nil)
        await expect(fault(at: ["http://a"], unsigned), is: .badReplySignature(server: "http://a"))
    }
}
