// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKImport
import YKTestSupport
import YKTransport
import YKWire

/// What a file may cost, and that a cancellation ends it.
@Suite struct DerivationTests {
    private static func aegis(slots: Int, cost: Int, parallelism: Int) throws -> AuthenticatorExport {
        let slot = """
            {"type":1,"uuid":"u","n":\(cost),"r":8,"p":\(parallelism),"salt":"\(String(repeating: "00", count: 32))",\
            "key":"\(String(repeating: "00", count: 32))",\
            "key_params":{"nonce":"\(String(repeating: "00", count: 12))","tag":"\(String(repeating: "00", count: 16))"}}
            """
        let text = """
            {"version":1,"header":{"slots":[\(Array(repeating: slot, count: slots).joined(separator: ","))],\
            "params":{"nonce":"\(String(repeating: "00", count: 12))","tag":"\(String(repeating: "00", count: 16))"}},\
            "db":"AAAA"}
            """
        return try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
    }

    private static let password = SharedSecret(Secret(utf8: "test-password"))

    @Test("what all slots of a file cost together is refused before the first is tried")
    func theSumCounts() throws {
        for (slots, cost, parallelism) in [(1, 1 << 19, 15), (16, 1 << 18, 1), (9, 1 << 18, 1)] {
            let export = try Self.aegis(slots: slots, cost: cost, parallelism: parallelism)
            #expect(throws: ExportError.tooExpensive(.aegis)) { try export.entries(password: Self.password) }
        }
        let few = try Self.aegis(slots: 3, cost: 1 << 4, parallelism: 1)
        #expect(throws: ExportError.wrongPassword(.aegis)) { try few.entries(password: Self.password) }
        #expect(throws: PasswordHash.Failure.tooExpensive) {
            try PasswordHash.check([
                .argon2id(passes: 4, kibibytes: 1 << 20, lanes: 1),
                .scrypt(cost: 1 << 20, blockSize: 8, parallelism: 1),
            ])
        }
        try PasswordHash.check([.argon2id(passes: 5, kibibytes: 1 << 20, lanes: 1)])
        #expect(throws: PasswordHash.Failure.tooExpensive) {
            try PasswordHash.check([.argon2id(passes: 1, kibibytes: 1 << 20 + 1, lanes: 1)])
        }
    }

    @Test("a cancellation ends the wait for work that cannot be interrupted")
    func cancellation() throws {
        let cancellation = Cancellation()
        let (isStarted, mayEnd) = (Semaphore(), Semaphore())
        defer { mayEnd.post() }
        let isStartedThread = SystemThread.start {
            isStarted.wait()
            cancellation.cancel()
        }
        #expect(isStartedThread)
        let result: Int? = WorkBeside.result(unless: cancellation) {
            isStarted.post()
            mayEnd.wait()
            return 1
        }
        expect(result, is: nil)
        expect(WorkBeside.result(unless: Cancellation()) { 2 }, is: 2)
        var isRun = false
        if WorkBeside.result(unless: cancellation, { 3 }) != nil { isRun = true }
        #expect(!isRun)
    }

    @Test("a cancelled import of an encrypted file derives no key")
    func cancelledExports() throws {
        let cancellation = Cancellation()
        cancellation.cancel()
        for name in ExportTests.names {
            let export = try ExportTests.export(name)
            guard export.needsPassword, !name.contains("encrypted-old") else { continue }
            #expect(throws: ExportError.cancelled, "\(name)") {
                try export.entries(password: ExportTests.password, cancellation: cancellation)
            }
        }
    }
}
