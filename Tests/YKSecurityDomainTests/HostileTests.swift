// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKProtocols
import YKSecureChannel
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKWire

extension ScriptedLink {
    /// A card without keys that answers every command but SELECT with the same bytes.
    fileprivate convenience init(
        _ status: UInt16, _ data: [UInt8] = [], selection: [UInt8] = [0x90, 0x00], log: Log = Log()
    ) {
        let answer = ResponseAPDU(StatusWord(status), data: data).encoded
        self.init(atr: Self.unknown, log: log) { $0[1] == 0xA4 ? selection : answer }
    }

    /// A card with one key, whose attempts end with the given status words, the last for ever.
    fileprivate convenience init(
        resetting id: UInt8, _ words: [UInt16], _ log: Log = Log(), reader: String = "Yubico YubiKey"
    ) {
        var words = words[...]
        var isThere = true
        self.init(reader: reader, atr: Self.unknown, log: log) { command in
            switch command[1] {
            case 0xA4: return [0x90, 0x00]
            case 0xCA: return (isThere ? [0xC0, 0x02, id, 0x05] : [0xC0, 0x02, 0x01, 0xFF]) + [0x90, 0x00]
            default:
                let word = words.count > 1 ? words.removeFirst() : words.first ?? 0x6F00
                if word == 0x6983 { isThere = false }
                return ResponseAPDU(StatusWord(word)).encoded
            }
        }
    }
}

/// What cards answer that are broken or hostile, and what is refused before it is sent.
@Suite struct HostileTests {
    private static let own = SCPKeyReference(id: 0x11, version: 3)
    private static let ca = SCPKeyReference(id: 0x10, version: 3)
    private static let set = SCPKeyReference(id: 0x01, version: 3)

    private static func open(_ link: sending ScriptedLink) async throws -> SecurityDomainService {
        let channel = CardChannel(link: link, environment: ServiceEnvironment(timeout: .seconds(5)))
        channel.isPlanned = true
        return try await SecurityDomainService.open(channel)
    }

    private static func keys() throws -> SCP03Keys {
        let key = SharedSecret(Secret([UInt8](repeating: 1, count: 16)))
        return try SCP03Keys(encryption: key, mac: key, dataEncryption: key)
    }

    private static func point() throws -> [UInt8] {
        [0x04] + (try P256KeyAgreement(scalar: Secret([UInt8](repeating: 1, count: 32)))).publicPoint
    }

    @Test("a card without a Security Domain, and one that does not answer SELECT")
    func missing() async throws {
        await #expect(throws: SecurityDomainError.card(.appletMissing(.securityDomain))) {
            try await Self.open(ScriptedLink(0x9000, selection: [0x6A, 0x82]))
        }
        await #expect(throws: SecurityDomainError.card(.status(.aborted, during: "SELECT \(AID.securityDomain.title)")))
        {
            try await Self.open(ScriptedLink(0x9000, selection: [0x6F, 0x00]))
        }
    }

    @Test(
        "what the card says of a command about a key",
        arguments: [
            (UInt16(0x6A88), SecurityDomainError.noSuchKey(own)), (0x6A84, .full), (0x6982, .hostNotAuthenticated),
            (0x6A80, .refused(own)), (0x6985, .card(.status(.conditionsNotSatisfied, during: "GENERATE KEY"))),
            (0x6F00, .card(.status(.aborted, during: "GENERATE KEY"))),
        ])
    func statusWords(_ status: UInt16, _ error: SecurityDomainError) async throws {
        let service = try await Self.open(ScriptedLink(status))
        await #expect(throws: error) { _ = try await service.generate(Self.own) }
    }

    @Test("deleting the last key is refused as that, and only that")
    func lastKey() async throws {
        let service = try await Self.open(ScriptedLink(0x6985))
        await #expect(throws: SecurityDomainError.wouldDeleteLast) { try await service.delete(id: 0x11, version: 3) }
        await #expect(throws: SecurityDomainError.card(.status(.conditionsNotSatisfied, during: "STORE DATA"))) {
            try await service.store(certificates: [[0x30, 0x00]], of: Self.own)
        }
    }

    @Test("a reply to GENERATE KEY that is not a point on P-256", arguments: 0..<6)
    func generated(_ number: Int) async throws {
        let point = try Self.point()
        let replies: [[UInt8]] = [
            [], TLV(0xB0, Array(point.dropLast())).encoded, TLV(0xB0, [0x03] + point.dropFirst()).encoded,
            TLV(0xB1, point).encoded, TLV(0xB0, point).encoded + [0x00], TLV(0xB0, point + [0x00]).encoded,
        ]
        let service = try await Self.open(ScriptedLink(0x9000, replies[number]))
        let error = await #expect(throws: SecurityDomainError.self) { _ = try await service.generate(Self.own) }
        guard case .card(.malformed(_, "GENERATE KEY")) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "the check values of another key are not taken for success", arguments: [[], [0x03], [0x03, 0, 0, 0], [0x04]])
    func checkValues(_ reply: [UInt8]) async throws {
        let service = try await Self.open(ScriptedLink(0x9000, reply))
        await #expect(throws: SecurityDomainError.wrongCheckValue(Self.set)) {
            try await service.put(try Self.keys(), as: Self.set)
        }
        let number = SharedSecret(Secret([UInt8](repeating: 1, count: 32)))
        if reply != [0x03] {
            await #expect(throws: SecurityDomainError.wrongCheckValue(Self.own)) {
                try await service.put(privateKey: number, as: Self.own)
            }
            await #expect(throws: SecurityDomainError.wrongCheckValue(Self.ca)) {
                try await service.put(authority: try Self.point(), as: Self.ca)
            }
        } else {
            try await service.put(privateKey: number, as: Self.own)
            try await service.put(authority: try Self.point(), as: Self.ca)
        }
    }

    @Test("what cannot be right is refused before anything is sent")
    func refused() async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.open(ScriptedLink(0x9000, log: log))
        let number = SharedSecret(Secret([UInt8](repeating: 1, count: 32)))
        let none = SharedSecret(Secret([UInt8](repeating: 0, count: 32)))
        let (keys, point) = (try Self.keys(), try Self.point())
        let two = try SCP03Keys(encryption: keys.encryption, mac: keys.mac, dataEncryption: nil)
        let attempts: [@Sendable () async throws -> Void] = [
            { try await service.put(keys, as: Self.own) }, { try await service.put(two, as: Self.set) },
            { try await service.put(privateKey: number, as: Self.ca) },
            { try await service.put(privateKey: none, as: Self.own) },
            { try await service.put(authority: point, as: Self.own) },
            { try await service.put(authority: Array(point.dropLast()), as: Self.ca) },
            { try await service.put(keys, as: SCPKeyReference(id: 0x01, version: 0x80)) },
            { _ = try await service.generate(SCPKeyReference(id: 0x11, version: 0)) },
            { try await service.delete(id: nil, version: nil) },
            { try await service.delete(id: 0x03, version: nil) },
            { try await service.store(certificates: [], of: Self.ca) },
            { try await service.store(authority: [], of: Self.ca) },
            { try await service.store(authority: [UInt8](repeating: 1, count: 33), of: Self.ca) },
            { try await service.store(allowedSerials: [[1]], of: Self.own) },
        ]
        for (index, attempt) in attempts.enumerated() {
            let error = await #expect(throws: SecurityDomainError.self, "\(index)") { try await attempt() }
            switch error {
            case .badReference, .badKey: break
            default: Issue.record("\(index): \(String(describing: error))")
            }
        }
        expect(log.commands.count, is: 1)
    }

    @Test("serial numbers are stored as positive integers without leading zeros")
    func serials() async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.open(ScriptedLink(0x9000, log: log))
        try await service.store(allowedSerials: [[1], [0x80], [0, 0, 0x7F], [0xFF, 0x00], []], of: Self.ca)
        try await service.store(authority: [7], of: Self.own)
        try expect(
            log.commands.dropFirst().map { Hex.encode(try APDU(decoding: $0).data) },
            is: [
                "a60483021003" + "7012" + "930101" + "93020080" + "93017f" + "930300ff00" + "930100",
                "a60a" + "800101" + "420107" + "83021103",
            ])
    }

    @Test("lists of authorities and of protocols that make no sense")
    func lists() async throws {
        for bytes: [UInt8] in [
            [0x42], [0x42, 0x01, 0x01], [0x42, 0x01, 0x01, 0x83, 0x01, 0x10], [0x83, 0x02, 0x10, 0x03],
            [0x42, 0x01, 0x01, 0x83, 0x00],
        ] {
            let service = try await Self.open(ScriptedLink(0x9000, bytes))
            for isCards in [false, true] {
                let error = await #expect(throws: SecurityDomainError.self) {
                    _ = try await service.authorities(ofCard: isCards)
                }
                guard case .card(.malformed(_, "GET DATA")) = error else {
                    Issue.record("\(Hex.encode(bytes)): \(String(describing: error))")
                    return
                }
            }
            await #expect(throws: SecurityDomainError.self) { _ = try await service.protocols() }
        }
        let root: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xFC, 0x6B, 0x04]
        let objects = [root + [0x02], root + [0x0B, 0x81, 0x00], [0x2A] + root, root + [0x03, 0x60]]
            .map { TLV(0x64, TLV(0x06, $0).encoded) }
        let service = try await Self.open(ScriptedLink(0x9000, TLV(0x73, objects.encoded).encoded))
        try await expect(service.protocols().map(\.description), is: ["SCP11 (i=80)", "SCP03 (i=60)"])
        let locked = try await Self.open(ScriptedLink(0x6982))
        await #expect(throws: SecurityDomainError.card(.status(.securityStatusNotSatisfied, during: "GET DATA"))) {
            _ = try await locked.authorities(ofCard: true)
        }
        let empty = try await Self.open(ScriptedLink(0x6A88))
        #expect(try await empty.certificates(of: Self.own).isEmpty)
    }

    // MARK: Reset

    @Test(
        "a key is blocked with its own command, at most 65 times",
        arguments: [
            (UInt8(0x01), UInt8(0x50), UInt8(0), UInt8(0)), (0x11, 0x82, 0x05, 0x11), (0x13, 0x88, 0x05, 0x13),
            (0x15, 0x82, 0x05, 0x15), (0x10, 0x2A, 0x05, 0x10), (0x20, 0x2A, 0x05, 0x20),
        ])
    func blocks(_ id: UInt8, _ instruction: UInt8, _ p1: UInt8, _ p2: UInt8) async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.openForReset(ScriptedLink(resetting: id, [0x6A80, 0x6A80, 0x6983], log))
        try await service.reset()
        let attempts = log.commands.filter { $0[0] == 0x80 }
        expect(attempts.count, is: 3)
        #expect(attempts.allSatisfy { Array($0.prefix(4)) == [0x80, instruction, p1, p2] })
        let endless = ScriptedLink.Log()
        let other = try await Self.openForReset(ScriptedLink(resetting: id, [0x6A80], endless))
        await #expect(
            throws: SecurityDomainError.resetIncomplete(SCPKeyReference(id: id, version: 5), .incorrectParameters)
        ) { try await other.reset() }
        expect(endless.commands.filter { $0[0] == 0x80 }.count, is: 65)
        let failing = try await Self.openForReset(ScriptedLink(resetting: id, [0x6F00]))
        await #expect(throws: SecurityDomainError.resetIncomplete(SCPKeyReference(id: id, version: 5), .aborted)) {
            try await failing.reset()
        }
        let pretending = try await Self.openForReset(ScriptedLink(resetting: id, [0x6982]))
        await #expect(throws: SecurityDomainError.resetIncomplete(SCPKeyReference(id: id, version: 5), .ok)) {
            try await pretending.reset()
        }
    }

    /// Cards of other makers have no factory keys to come back to.
    @Test func blocksNoKeyOfAnotherCard() async throws {
        let log = ScriptedLink.Log()
        let service = try await Self.openForReset(ScriptedLink(resetting: 0x13, [0x6983], log, reader: "ACME JavaCard"))
        await #expect(throws: SecurityDomainError.noReset) { try await service.reset() }
        #expect(log.commands.allSatisfy { $0[0] == 0x00 })
    }

    private static func openForReset(_ link: sending ScriptedLink) async throws -> SecurityDomainService {
        try await SecurityDomainService.open(
            CardChannel(link: link, environment: ServiceEnvironment(timeout: .seconds(5))))
    }
}
