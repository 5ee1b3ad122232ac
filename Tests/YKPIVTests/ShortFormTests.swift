// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key in a reader that takes short commands only: long ones go in chains, long replies come in pieces.
private final class ShortReader: ForwardingCardLink {
    let identity: CardIdentity
    let link: any CardLink
    private let log: ScriptedLink.Log

    init(_ key: any CardLink, log: ScriptedLink.Log) {
        identity = CardIdentity(reader: key.identity.reader, atr: key.identity.atr, maxCommandLength: 261)
        link = key
        self.log = log
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        log.append(command)
        return try link.exchange(command, deadline: deadline)
    }
}

struct ShortFormTests {
    @Test func chainsWhatIsLong() async throws {
        let log = ScriptedLink.Log()
        let bench = try Bench()
        let channel = CardChannel(link: ShortReader(bench.key.link(), log: log), environment: .still)
        let service = try await PIVService.open(channel)
        try await service.authenticate(with: .defaultKey())
        let content = (0..<2900).map { UInt8(truncatingIfNeeded: $0) }
        try await service.putObject(.security, content)
        try await expect(service.object(.security), is: content)
        let made = try run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096"])
        let key = try #require(try KeyFile(made.output).privateKey)
        _ = try await service.importKey(key, .keyManagement)
        try await expect(service.publicKey(.keyManagement), is: key.publicKey)
        try await service.verify(pin())
        let signature = try await service.sign(.message([1, 2, 3]), .keyManagement, hash: .sha384)
        #expect(key.publicKey.isValid(signature, for: [1, 2, 3], .sha384))
        #expect(log.commands.allSatisfy { $0.count <= 261 })
        #expect(log.commands.contains { $0[0] == 0x10 } && log.commands.contains { $0[1] == 0xC0 })
    }
}
