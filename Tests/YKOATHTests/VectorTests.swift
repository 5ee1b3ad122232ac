// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey

/// The test vectors of RFC 4226 appendix D and RFC 6238 appendix B, written onto a virtual key and read back.
struct VectorTests {
    static let secret = "1234567890123456789012345678901234567890123456789012345678901234"
    static let times: [Int64] = [59, 1_111_111_109, 1_111_111_111, 1_234_567_890, 2_000_000_000, 20_000_000_000]
    static let totp: [(OATHAlgorithm, Int, [String])] = [
        (.sha1, 20, ["94287082", "07081804", "14050471", "89005924", "69279037", "65353130"]),
        (.sha256, 32, ["46119246", "68084774", "67062674", "91819424", "90698825", "77737706"]),
        (.sha512, 64, ["90693936", "25091201", "99943326", "93441116", "38618901", "47863826"]),
    ]

    @Test(arguments: totp)
    func timeBased(_ algorithm: OATHAlgorithm, _ length: Int, _ codes: [String]) async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let new = Virtual.account(
            "rfc6238", secret: String(Self.secret.prefix(length)), algorithm: algorithm, digits: 8)
        try await service.put(new)
        for (time, expected) in zip(Self.times, codes) {
            let entries = try await service.codes(at: time)
            let code = try #require(entries.first?.code)
            expect(code.text, is: expected)
            #expect(code.validFrom <= time && time < code.validTo ?? 0)
            try await expect(service.code(for: new.id, at: time), is: code)
        }
    }

    @Test func counterBased() async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let new = Virtual.account("rfc4226", type: .hotp)
        try await service.put(new)
        let expected = [
            "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
        ]
        for text in expected {
            try await expect(service.codes().map(\.outcome), is: [.hotp])
            let code = try await service.code(for: new.id)
            expect(code.text, is: text)
            expect(code.validTo, is: nil)
        }
    }

    @Test func counterBasedFromAnInitialCounter() async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let new = Virtual.account("rfc4226", type: .hotp, counter: 5)
        try await service.put(new)
        try await expect(service.code(for: new.id).text, is: "254676")
    }

    @Test(arguments: zip([59, 1_111_111_109, 1_234_567_890, 2_000_000_000], steam))
    func steamGuard(_ time: Int64, _ text: String) async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let new = Virtual.account("frank", issuer: "Steam")
        try await service.put(new)
        let before = await service.statistics.exchanges
        try await expect(service.codes(at: time).first?.code?.text, is: text)
        await expect(service.statistics.exchanges, is: before + 1)
        try await expect(service.code(for: new.id, at: time).text, is: text)
    }

    static let steam = ["PV9M4", "PY4YB", "VHHQY", "9N776"]

    @Test func aLongSecretIsHashedAndAShortOnePadded() async throws {
        let service = try await Virtual.open(try Virtual.empty())
        let long = String(repeating: "long secret ", count: 12)
        for algorithm in OATHAlgorithm.known {
            for (name, secret) in [("long", long), ("short", "x")] {
                let new = Virtual.account("\(name) \(algorithm)", secret: secret, algorithm: algorithm)
                try await service.put(new)
                let hmac = try #require(algorithm.hash).hmac(key: new.secret.value, [1, 2, 3])
                try await expect(service.response(for: new.id, challenge: [1, 2, 3]), is: hmac)
            }
        }
    }
}
