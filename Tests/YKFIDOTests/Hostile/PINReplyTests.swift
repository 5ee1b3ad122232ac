// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKWire

/// A key that lies while a PIN is at stake: the PIN leaves this side at most once, and not at all when what came
/// before it cannot be believed.
struct PINReplyTests {
    /// getInfo of a key with a PIN and one protocol.
    private static func info(_ version: PINProtocol) -> [UInt8] {
        var options = Operation.info[4]?.map ?? .init()
        options["clientPin"] = true
        let map = Operation.info.with(4, .map(options)).with(6, [.unsigned(version.rawValue)])
        return CBOR.map(map).reply
    }

    private static let retries = CBOR.map([3: 8]).reply
    private static let agreement = CBOR.map([1: .map(Operation.agreementKey)]).reply

    /// The token of a key whose private number is 1, encrypted as it should be.
    private static func token(_ version: PINProtocol, _ plain: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
        { message in
            guard let map = (try? CBOR(decoding: Array(message.dropFirst())))?.map, let peer = map[3]?.map,
                let x = peer[-2]?.bytes, let y = peer[-3]?.bytes
            else { return [0x7F] }
            var scalar = [UInt8](repeating: 0, count: 32)
            scalar[31] = 1
            guard let common = try? P256KeyAgreement(scalar: Secret(scalar)).shared(with: x + y),
                let shared = try? PINSharedKey(version, common: common),
                let encrypted = try? shared.encrypt(plain, vector: [UInt8](repeating: 9, count: shared.vectorSize))
            else { return [0x7F] }
            return CBOR.map([2: .bytes(encrypted)]).reply
        }
    }

    private func assert(_ replies: [@Sendable ([UInt8]) -> [UInt8]], _ log: ScriptedKey.Log) async throws {
        let interaction = FIDOInteraction(pin: { _ in secret("12345") })
        let service = try await FIDOService.open(ScriptedKey(replies, log: log), interaction: interaction)
        _ = try await service.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
    }

    private func fixed(_ reply: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] { { _ in reply } }

    @Test(arguments: PINProtocol.allCases)
    func aGoodKeyGetsThePIN(_ version: PINProtocol) async throws {
        let lengths = version == .one ? [16, 32] : [32]
        for length in lengths {
            let log = ScriptedKey.Log()
            try await assert(
                [
                    fixed(Self.info(version)), fixed(Self.retries), fixed(Self.agreement),
                    Self.token(version, .init(repeating: 5, count: length)),
                    fixed(CBOR.map(Operation.signed).reply),
                ], log)
            expect(log.tries, is: 1)
        }
    }

    /// Tokens of every number of blocks but the right ones; 0, 20 and 33 bytes, and whatever else is not whole blocks,
    /// as the key sends them.
    @Test(arguments: PINProtocol.allCases)
    func tokensOfOtherLengths(_ version: PINProtocol) async throws {
        let whole = [0, 16, 32, 48, 64, 1024].filter { !version.accepts(tokenOf: $0) || $0 == 0 }
        let bad =
            whole.map { Self.token(version, .init(repeating: 5, count: $0)) }
            + [0, 1, 15, 17, 20, 31, 33, 47, 49, 63, 65].map { count in
                fixed(CBOR.map([2: .bytes(.init(repeating: 5, count: count))]).reply)
            } + [fixed([0x00]), fixed([0x00, 0xA0]), fixed(CBOR.map([2: "text"]).reply)]
            + Poison.always.map { fixed($0.reply) }
        for reply in bad {
            let log = ScriptedKey.Log()
            await #expect(throws: FIDOError.self) {
                try await assert(
                    [fixed(Self.info(version)), fixed(Self.retries), fixed(Self.agreement), reply], log)
            }
            expect(log.tries, is: 1)
            expect(log.messages.count, is: 4)
        }
    }

    /// The key's own key off the curve, of odd length, of another kind.
    @Test(arguments: PINProtocol.allCases)
    func agreementKeysThatAreNone(_ version: PINProtocol) async throws {
        let good = Operation.agreementKey
        var bad: [CBOR.Map] = []
        for count in [0, 1, 31, 33, 64, 65] {
            let value = CBOR.bytes(.init(repeating: 1, count: count))
            bad += [good.with(-2, value), good.with(-3, value)]
        }
        let zero = CBOR.bytes(.init(repeating: 0, count: 32))
        let most = CBOR.bytes(.init(repeating: 0xFF, count: 32))
        bad += [good.with(-2, zero), good.with(-3, zero), good.with(-2, zero).with(-3, zero)]
        bad += [good.with(-2, most), good.with(-3, most), good.with(-3, good[-2] ?? zero)]
        bad += [
            good.with(-3, true), good.with(-1, 2), good.with(-1, 8), good.with(1, 1), good.with(1, 3), good.with(1, 9),
        ]
        bad += ([1, -1, -2, -3] as [CBOR]).map { key in
            var map = good
            map[key] = nil
            return map
        }
        for map in bad {
            let log = ScriptedKey.Log()
            await #expect(throws: FIDOError.self, "\(CBOR.map(map))") {
                try await assert(
                    [fixed(Self.info(version)), fixed(Self.retries), fixed(CBOR.map([1: .map(map)]).reply)], log)
            }
            expect(log.tries, is: 0)
            expect(log.messages.count, is: 3)
        }
    }

    /// Whatever is wrong with getInfo, the tries or the agreement: the PIN stays here.
    @Test(arguments: PINProtocol.allCases)
    func nothingIsTriedOnABadKey(_ version: PINProtocol) async throws {
        let good = [Self.info(version), Self.retries, Self.agreement]
        for place in good.indices {
            let cuts = (0..<good[place].count).map { ("cut to \($0)", Array(good[place].prefix($0))) }
            for (name, reply) in Poison.always.map({ ($0.name, $0.reply) }) + cuts {
                let log = ScriptedKey.Log()
                var replies = good
                replies[place] = reply
                await #expect(throws: FIDOError.self, "answer \(place): \(name)") {
                    try await assert(replies.map { fixed($0) }, log)
                }
                expect(log.tries, is: 0)
            }
        }
    }

    /// A key that says that no tries are left, or wants to be unplugged, is not given the PIN; a wrong one is not
    /// given again.
    @Test func neverTriesAgain() async throws {
        for (retries, tries) in [([3: 0], 0), ([3: 3, 4: true], 0), ([3: 3, 4: false], 1)] as [(CBOR.Map, Int)] {
            for status: UInt8 in [0x31, 0x33, 0x34, 0x32, 0x01, 0x70] {
                let log = ScriptedKey.Log()
                await #expect(throws: FIDOError.self) {
                    try await assert(
                        [
                            fixed(Self.info(.two)), fixed(CBOR.map(retries).reply), fixed(Self.agreement),
                            fixed([status]), fixed(Self.retries), fixed(Self.agreement), fixed([status]),
                        ], log)
                }
                expect(log.tries, is: tries)
            }
        }
    }
}
