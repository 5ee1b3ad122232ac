// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKFIDO

/// Every answer to a U2F command: all status words, every length, every byte.
struct U2FReplyTests {
    private static let certificate: [UInt8] = [0x30, 0x28] + [UInt8](repeating: 0x11, count: 40)
    static let registered: [UInt8] =
        [0x05, 0x04] + [UInt8](repeating: 2, count: 64) + [0x20] + [UInt8](repeating: 3, count: 32) + certificate
        + [UInt8](repeating: 4, count: 70) + [0x90, 0x00]
    static let signed: [UInt8] = [0x01, 0, 0, 0, 9] + [UInt8](repeating: 4, count: 70) + [0x90, 0x00]

    private func session(_ reply: [UInt8]) -> U2FSession {
        var environment = ServiceEnvironment.instant
        environment.timeout = .milliseconds(1)
        let key = ScriptedKey([{ _ in reply }], environment: environment)
        key.isEndless = true
        return U2FSession(ctap: CTAPSession(key))
    }

    private func everything(_ session: U2FSession) -> [Result<Void, CTAPError>] {
        [
            Result { () throws(CTAPError) in _ = try session.version() },
            Result { () throws(CTAPError) in
                _ = try session.register(challengeHash: hash, applicationHash: hash)
            },
            Result { () throws(CTAPError) in
                _ = try session.authenticate(
                    .enforcePresence, challengeHash: hash, applicationHash: hash, keyHandle: [1])
            },
            Result { () throws(CTAPError) in
                _ = try session.knows([1], challengeHash: hash, applicationHash: hash)
            },
        ]
    }

    @Test func everyStatusWord() {
        var wrong: [UInt16] = []
        for word in UInt16.min ... .max where word != 0x9000 {
            let outcomes = everything(session([UInt8(word >> 8), UInt8(word & 0xFF)])).map { (try? $0.get()) != nil }
            if outcomes != [false, false, false, [0x6985, 0x6A80, 0x6700].contains(word)] { wrong.append(word) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func everyTruncationAndEveryByte() throws {
        _ = try session(Self.registered).register(challengeHash: hash, applicationHash: hash)
        _ = try session(Self.signed).authenticate(
            .enforcePresence, challengeHash: hash, applicationHash: hash, keyHandle: [1])
        for good in [Self.registered, Self.signed] {
            for count in 0..<good.count - 2 {
                let short = Array(good.prefix(count)) + [0x90, 0x00]
                _ = everything(session(short))
                #expect(throws: WireError.self) { try U2FRegistration(decoding: Array(good.prefix(min(count, 100)))) }
            }
            for position in good.indices.dropLast(2) {
                var changed = good
                for value in Variations.made(of: Array(UInt8.min ... .max), at: position) {
                    changed[position] = value
                    _ = try? U2FRegistration(decoding: changed.dropLast(2))
                    _ = try? U2FSignature(decoding: changed.dropLast(2))
                }
            }
        }
        for reply: [UInt8] in [[], [0x90]] {
            for outcome in everything(session(reply)) { #expect(throws: CTAPError.self) { try outcome.get() } }
        }
        for count in [0, 1, 7, 73, 200] {
            let signature = [0x01, 0, 0, 0, 9] + [UInt8](repeating: 4, count: count)
            #expect(throws: WireError.self) { try U2FSignature(decoding: signature) }
        }
    }

    /// A key that waits for a touch for ever is told so, and given up when the time is over.
    @Test func waitsNoLongerThanTheTime() {
        let outcomes = everything(session([0x69, 0x85]))
        for outcome in outcomes[1...2] {
            #expect(throws: CTAPError.link(.notTouched)) { try outcome.get() }
        }
    }
}
