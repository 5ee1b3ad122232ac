// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKSecureChannel
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The management of a virtual key's Security Domain.
@Suite struct KeyTests {
    private let key: VirtualKey

    init() throws { key = try VirtualKey.new(FirmwareVersion(5, 7, 4), serial: 7) }

    private func open(_ credential: SecureChannelCredential? = .scp03(.factory)) async throws -> SecurityDomainService {
        let environment = ServiceEnvironment(timeout: .seconds(5))
        let channel = CardChannel(link: key.link(), environment: environment)
        if let credential { channel.protect(with: SecureChannel(credential, environment: environment)) }
        return try await SecurityDomainService.open(channel)
    }

    private func references(_ service: SecurityDomainService) async throws -> [String] {
        try await service.keys().map(\.reference.description)
    }

    private static func set(_ first: UInt8) throws -> SCP03Keys {
        let keys = (0..<3).map { SharedSecret(Secret([UInt8](repeating: first + $0, count: 16))) }
        return try SCP03Keys(encryption: keys[0], mac: keys[1], dataEncryption: keys[2])
    }

    @Test func aNewKey() async throws {
        let service = try await open(nil)
        try await expect(references(service), is: ["0x01/0xff", "0x02/0xff", "0x03/0xff", "0x13/0x01"])
        try await expect(service.protocols().map(\.description), is: ["SCP03 (i=60)", "SCP11 (i=04)"])
        let factory = SCPKeyReference(id: 0x13, version: 0x01)
        try await expect(service.certificates(of: factory).count, is: 2)
        try await expect(service.authorities(ofCard: true).keys.first, is: factory)
        #expect(try await service.authorities(ofCard: false).isEmpty)
        await #expect(throws: SecurityDomainError.hostNotAuthenticated) {
            try await service.generate(SCPKeyReference(id: 0x11, version: 2))
        }
    }

    @Test func theFirstSetOfOnesOwnTakesTheFactorysPlace() async throws {
        let service = try await open()
        let own = SCPKeyReference(id: 0x01, version: 1)
        try await service.put(try Self.set(1), as: own)
        try await expect(references(service).first, is: "0x13/0x01")
        await service.close()
        await #expect(
            throws: SecurityDomainError.card(.secureChannel(.noSuchKey(SCPKeyReference(id: 0x01, version: 0xFF))))
        ) { try await open(.scp03(.factory, version: 0xFF)) }
        let next = try await open(.scp03(try Self.set(1), version: 1))
        try await next.put(try Self.set(5), as: SCPKeyReference(id: 0x01, version: 2))
        try await next.put(try Self.set(9), as: SCPKeyReference(id: 0x01, version: 3))
        await #expect(throws: SecurityDomainError.full) {
            try await next.put(try Self.set(7), as: SCPKeyReference(id: 0x01, version: 4))
        }
        try await next.put(try Self.set(7), as: SCPKeyReference(id: 0x01, version: 4), replacing: 3)
        try await next.delete(id: 0x01, version: 2)
        try await expect(next.keys().filter { $0.reference.id == 1 }.map(\.reference.version), is: [1, 4])
    }

    @Test func aSetWithoutItsThirdKeyStoresNothingSecret() async throws {
        let factory = SCP03Keys.factory
        let keys = try SCP03Keys(encryption: factory.encryption, mac: factory.mac, dataEncryption: nil)
        let service = try await open(.scp03(keys))
        await #expect(throws: SecurityDomainError.noDataEncryptionKey) {
            try await service.put(try Self.set(1), as: SCPKeyReference(id: 0x01, version: 1))
        }
        _ = try await service.generate(SCPKeyReference(id: 0x11, version: 2))
    }

    @Test func onlyTheHostThatProvesItselfChangesKeys() async throws {
        let service = try await open(.scp11(.b, trust: .unverified))
        await #expect(throws: SecurityDomainError.hostNotAuthenticated) {
            try await service.delete(id: 0x13, version: 1)
        }
    }

    @Test func generatedAndImportedKeysOpenChannels() async throws {
        let service = try await open()
        let point = try await service.generate(SCPKeyReference(id: 0x13, version: 2))
        let number = SharedSecret(Secret([UInt8](repeating: 0x11, count: 32)))
        try await service.put(privateKey: number, as: SCPKeyReference(id: 0x13, version: 3))
        await #expect(throws: SecurityDomainError.refused(SCPKeyReference(id: 0x13, version: 2))) {
            try await service.generate(SCPKeyReference(id: 0x13, version: 2))
        }
        await service.close()
        let own = [0x04] + (try P256KeyAgreement(scalar: number.value)).publicPoint
        for (version, trust) in [(UInt8(2), SCP11Trust.key(point)), (2, .unverified), (3, .key(own))] {
            let opened = try await open(.scp11(.b, version: version, trust: trust))
            await opened.close()
        }
        await #expect(
            throws: SecurityDomainError.card(
                .secureChannel(.noCertificate(SCPKeyReference(id: 0x13, version: 3))))
        ) { try await open(.scp11(.b, version: 3, trust: .unverified)) }
    }

    @Test func whatMakesNoSenseIsNotSent() async throws {
        let service = try await open()
        let count = await service.statistics.exchanges
        await #expect(throws: SecurityDomainError.self) {
            try await service.put(try Self.set(1), as: SCPKeyReference(id: 0x01, version: 0xFF))
        }
        await #expect(throws: SecurityDomainError.self) {
            try await service.generate(SCPKeyReference(id: 0x10, version: 1))
        }
        await #expect(throws: SecurityDomainError.self) {
            try await service.put(
                authority: [UInt8](repeating: 4, count: 65), as: SCPKeyReference(id: 0x10, version: 1))
        }
        await #expect(throws: SecurityDomainError.self) { try await service.delete(id: 0x01, version: nil) }
        await expect(service.statistics.exchanges, is: count)
    }

    @Test func theLastKeyIsKept() async throws {
        let service = try await open()
        try await service.delete(id: 0x13, version: nil)
        await #expect(throws: SecurityDomainError.wouldDeleteLast) { try await service.delete(id: nil, version: 0xFF) }
        try await service.delete(id: nil, version: 0xFF, evenLast: true)
        try await expect(references(service).count, is: 4)
    }

    @Test func resetBringsTheFactorysKeysBack() async throws {
        let service = try await open()
        try await service.put(try Self.set(1), as: SCPKeyReference(id: 0x01, version: 1))
        _ = try await service.generate(SCPKeyReference(id: 0x11, version: 2))
        let point = try await service.generate(SCPKeyReference(id: 0x15, version: 2))
        try await service.put(authority: point, as: SCPKeyReference(id: 0x10, version: 2))
        await #expect(throws: SecurityDomainError.channelOpen) { try await service.reset() }
        await service.close()
        let plain = try await open(nil)
        let before = try await plain.certificates(of: SCPKeyReference(id: 0x13, version: 1))
        try await plain.reset()
        try await expect(references(plain), is: ["0x01/0xff", "0x02/0xff", "0x03/0xff", "0x13/0x01"])
        #expect(try await plain.certificates(of: SCPKeyReference(id: 0x13, version: 1)) != before)
        await plain.close()
        let opened = try await open()
        try await expect(references(opened).count, is: 4)
    }
}
