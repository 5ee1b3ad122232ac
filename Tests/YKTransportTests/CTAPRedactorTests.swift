// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// What is overwritten in CTAP2 requests, so that a replay with other private numbers is the same.
@Suite struct CTAPRedactorTests {
    private static func key(_ byte: UInt8) -> CBOR {
        let point = CBOR.bytes([UInt8](repeating: byte, count: 32))
        return .map(CBOR.Map.of([1: 2, 3: -25, -1: 1, -2: point, -3: point]))
    }

    private static func text(_ length: Int, _ byte: UInt8) -> CBOR { .bytes([UInt8](repeating: byte, count: length)) }

    private static func exchange(_ byte: UInt8) -> CBOR {
        .map(CBOR.Map.of([1: key(byte), 2: text(80, byte), 3: text(32, byte), 4: 2]))
    }

    private static func message(_ code: UInt8, _ map: CBOR.Map) -> [UInt8] { [code] + CBOR.map(map).encoded }

    /// Requests in which everything of one byte depends on a private number.
    static let requests: [@Sendable (UInt8) -> [UInt8]] = [
        { byte in
            message(0x06, CBOR.Map.of([1: 2, 2: 9, 3: key(byte), 6: text(32, byte), 9: 0x40, 10: "example.com"]))
        },
        { byte in message(0x06, CBOR.Map.of([1: 2, 2: 6, 3: key(byte), 9: 0x40])) },
        { byte in message(0x0A, CBOR.Map.of([1: 4, 2: .map(CBOR.Map.of([1: text(32, 1)])), 3: 2, 4: text(32, byte)])) },
        { byte in message(0x41, CBOR.Map.of([1: 2, 3: 1, 4: text(16, byte)])) },
        { byte in
            let extensions = CBOR.Map.of(["credBlob": true, "hmac-secret": exchange(byte)])
            return message(
                0x02, CBOR.Map.of([1: "example.com", 2: text(32, 2), 4: .map(extensions), 5: .map(.init())]))
        },
        { byte in
            let extensions = CBOR.Map.of(["hmac-secret": true, "credProtect": 2, "hmac-secret-mc": exchange(byte)])
            return message(0x01, CBOR.Map.of([1: text(32, 2), 6: .map(extensions), 8: text(16, 3), 9: 1]))
        },
    ]

    @Test(arguments: requests.indices)
    func aReplayWithOtherNumbersIsTheSame(index: Int) throws {
        let (recorded, replayed) = (Self.requests[index](0xEE), Self.requests[index](0xDD))
        for size in [1, 3, 16, 57, 250] { try overACard(recorded, replayed, size) }
        var redactor = Redactor()
        for (first, second) in zip(RedactorTests.reports(0x10, recorded), RedactorTests.reports(0x10, replayed)) {
            let event = redactor.redacted(Capture.Event(.written(first)))
            guard case .written(let hidden) = event.kind else { continue }
            #expect(hidden == second.masked(event.commandMask) && !hidden.contains(0xEE))
        }
    }

    private func overACard(_ recorded: [UInt8], _ replayed: [UInt8], _ size: Int) throws {
        var redactor = Redactor()
        _ = redactor.masks(command: try APDU.select(.fido).encoded(.short), reply: [0x90, 0])
        for start in stride(from: 0, to: recorded.count, by: size) {
            let end = min(recorded.count, start + size)
            let parts = try [recorded, replayed].map { message in
                try APDU(
                    cla: end < recorded.count ? 0x90 : 0x80, ins: 0x10, data: Array(message[start..<end]), le: .none
                )
                .encoded(.short)
            }
            let masks = redactor.masks(command: parts[0], reply: [0x90, 0]).command
            expect(parts[0].masked(masks), is: parts[1].masked(masks))
            #expect(!parts[0].masked(masks).dropFirst(5).contains(0xEE))
        }
    }

    /// Where the private number is in the recording, the public key is compared.
    @Test(arguments: [
        message(0x06, CBOR.Map.of([1: 2, 2: 5, 3: key(0xEE)])), message(0x06, CBOR.Map.of([1: 2, 2: 3, 3: key(0xEE)])),
        message(0x02, CBOR.Map.of([1: "example.com", 4: .map(CBOR.Map.of(["hmac-other": exchange(0xEE)]))])),
        message(0x01, CBOR.Map.of([6: .map(CBOR.Map.of(["hmac-secret": true]))])), [0x01], [0x02, 0xFF], [0x0A, 0x80],
        message(0x0B, CBOR.Map.of([4: text(16, 0xEE)])),
    ])
    func restIsCompared(message: [UInt8]) throws {
        var redactor = Redactor()
        for report in RedactorTests.reports(0x10, message) {
            #expect(redactor.redacted(Capture.Event(.written(report))).commandMask.isEmpty)
        }
    }

    /// No message makes it trap, and it never points outside of one.
    @Test func brokenMessages() {
        var random = SystemRandomNumberGenerator.seeded(5)
        for round in 0..<4000 {
            var message = Self.requests[round % Self.requests.count](0xEE)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<min(40, message.count), using: &random)
                message[place] = UInt8.random(in: 0...255, using: &random)
            }
            message = Array(message.prefix(Int.random(in: 0...message.count, using: &random)))
            var redactor = Redactor()
            for report in RedactorTests.reports(0x10, message) {
                let masks = redactor.masks(Capture.Event(.written(report))).command
                #expect(masks.allSatisfy { $0.offset >= 5 && $0.length > 0 && $0.end <= 64 })
            }
        }
    }
}
