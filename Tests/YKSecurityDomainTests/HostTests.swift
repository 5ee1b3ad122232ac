// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKSecureChannel
import YKSecurityDomain
import YKTestSupport
import YKTransport
import YKWire

@testable import YKVirtualKey

/// Hosts with certificates: which of them open SCP11a and SCP11c, and what these may change.
@Suite struct HostTests {
    private let key: VirtualKey
    private static let authority = SCPKeyReference(id: 0x10, version: 3)
    private static let identifier = [UInt8](repeating: 0xC1, count: 20)

    init() throws { key = try VirtualKey.new(FirmwareVersion(5, 7, 4), serial: 7) }

    private func open(_ credential: SecureChannelCredential) async throws -> SecurityDomainService {
        let environment = ServiceEnvironment(timeout: .seconds(5))
        let channel = CardChannel(link: key.link(), environment: environment)
        channel.protect(with: SecureChannel(credential, environment: environment))
        return try await SecurityDomainService.open(channel)
    }

    private static func key(_ byte: UInt8) throws -> PrivateKey {
        try PrivateKey(.p256, scalar: Secret([UInt8](repeating: byte, count: 32)))
    }

    /// A certificate that names the authority's identifier; its serial number is that of its key.
    private static func certificate(_ byte: UInt8, by issuer: UInt8) throws -> [UInt8] {
        let identifier = TLV(0x30, TLV(0x80, identifier).encoded).encoded
        let field = TLV(0x30, [TLV(0x06, [0x55, 0x1D, 0x23]), TLV(0x04, identifier)].encoded).encoded
        return try VirtualCertificate.make(
            key(byte).publicKey, "\(byte)", signedBy: key(issuer), "\(issuer)", serial: [byte], [field])
    }

    /// The host has key 3; key 1 is the authority's, which may have signed key 5's certificate, and that the host's.
    private static func host(
        through middle: UInt8? = 5, by authority: UInt8 = 1, version: UInt8 = 0
    ) throws -> SCP11HostKey {
        let chain =
            if let middle { [try certificate(middle, by: authority), try certificate(3, by: middle)] } else {
                [try certificate(3, by: authority)]
            }
        return try SCP11HostKey(
            privateKey: SharedSecret(Secret([UInt8](repeating: 3, count: 32))), certificates: chain,
            authority: SCPKeyReference(id: 0x10, version: version))
    }

    /// Generates the card's key of a KID, stores the authority, and gives the card's public key.
    private func prepare(_ id: UInt8 = 0x11, allowing serials: [[UInt8]]? = nil) async throws -> SCP11Trust {
        let service = try await open(.scp03(.factory))
        let card = try await service.generate(SCPKeyReference(id: id, version: 3))
        guard case .ec(_, let point) = try Self.key(1).publicKey else { return .unverified }
        try await service.put(authority: point, as: Self.authority)
        try await service.store(authority: Self.identifier, of: Self.authority)
        if let serials { try await service.store(allowedSerials: serials, of: Self.authority) }
        await service.close()
        return .key(card)
    }

    @Test("the authority is found by its identifier, and the chain is followed to the host")
    func opens() async throws {
        let trust = try await prepare()
        for host in [try Self.host(), try Self.host(through: nil), try Self.host(version: 3)] {
            let service = try await open(.scp11(.a, version: 3, host: host, trust: trust))
            try await expect(service.authorities(ofCard: false), is: [Self.authority: Self.identifier])
            let made = SCPKeyReference(id: 0x13, version: 9)
            _ = try await service.generate(made)
            try await service.put(
                privateKey: SharedSecret(Secret([UInt8](repeating: 8, count: 32))), as: made, replacing: 9)
            try await service.delete(id: 0x13, version: 9)
            await service.close()
        }
    }

    @Test("SCP11c opens a channel that may not change keys")
    func scripts() async throws {
        let trust = try await prepare(0x15)
        let service = try await open(.scp11(.c, version: 3, host: try Self.host(), trust: trust))
        await #expect(throws: SecurityDomainError.hostNotAuthenticated) {
            _ = try await service.generate(SCPKeyReference(id: 0x13, version: 9))
        }
        #expect(try await service.keys().contains { $0.reference.id == 0x15 })
    }

    @Test(
        "a reply with a bad MAC at every position of ten commands ends the channel of an authenticated host",
        arguments: 0..<10, [SCP11Variant.a, .c])
    func badReply(_ position: Int, _ variant: SCP11Variant) async throws {
        let trust = try await prepare(variant.keyID)
        // The replies to the commands of this header; the handshake has others.
        let faults = try FaultPlan(parsing: "on 04ca at \(position + 1): garbage 00000000000000009000")
        let environment = ServiceEnvironment(timeout: .seconds(5))
        let channel = CardChannel(link: FaultyLink(key.link(), plan: faults), environment: environment)
        let host = try Self.host()
        channel.protect(
            with: SecureChannel(.scp11(variant, version: 3, host: host, trust: trust), environment: environment))
        _ = try channel.select(.securityDomain)
        let handshake = channel.exchanges
        for index in 0..<10 {
            let command = APDU(ins: 0xCA, p1: 0x00, p2: index.isMultiple(of: 2) ? 0xE0 : 0x66)
            switch index {
            case ..<position: expect(try channel.transmit(command).status, is: .ok)
            case position: #expect(throws: CardError.secureChannel(.notAuthentic)) { try channel.transmit(command) }
            default: #expect(throws: CardError.secureChannel(.ended)) { try channel.transmit(command) }
            }
        }
        expect(channel.exchanges, is: handshake + position + 1)
    }

    @Test("a host whose chain the card does not trust is told which certificate was refused")
    func refused() async throws {
        let trust = try await prepare()
        let cases: [(SCP11HostKey, SecureChannelFault)] = [
            (try Self.host(by: 2), .certificateRefused(0, .incorrectParameters)),
            (try Self.host(through: nil, by: 2), .certificateRefused(0, .incorrectParameters)),
            (try Self.host(version: 4), .noSuchKey(SCPKeyReference(id: 0x10, version: 4))),
        ]
        for (host, fault) in cases {
            await #expect(throws: SecurityDomainError.card(.secureChannel(fault))) {
                try await open(.scp11(.a, version: 3, host: host, trust: trust))
            }
        }
    }

    @Test("the list of serial numbers holds for every certificate of the chain")
    func allowed() async throws {
        let trust = try await prepare(allowing: [[5]])
        await #expect(
            throws: SecurityDomainError.card(.secureChannel(.certificateRefused(1, .incorrectParameters)))
        ) { try await open(.scp11(.a, version: 3, host: try Self.host(), trust: trust)) }
        let service = try await open(.scp03(.factory))
        try await service.store(allowedSerials: [[0, 5], [3]], of: Self.authority)
        await service.close()
        let opened = try await open(.scp11(.a, version: 3, host: try Self.host(), trust: trust))
        try await opened.store(allowedSerials: [], of: Self.authority)
        await opened.close()
        let other = try await open(.scp11(.a, version: 3, host: try Self.host(through: 7), trust: trust))
        await other.close()
    }

    @Test("stored certificates are read back, leaf last, and the card is known by them")
    func certificates() async throws {
        let trust = try await prepare()
        guard case .key(let point) = trust else { return }
        let reference = SCPKeyReference(id: 0x11, version: 3)
        let info = TLV(
            0x30,
            [UInt8](
                [0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08]
                    + [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00]) + point
        ).encoded
        let root = try VirtualCertificate.make(
            Self.key(1).publicKey, "1", signedBy: Self.key(1), "1", serial: [1], [VirtualCertificate.authority])
        let leaf = try VirtualCertificate.make(
            PublicKey.ec(.p256, point: point), "card", signedBy: Self.key(1), "1", serial: [9], [])
        expect(PublicKey.ec(.p256, point: point).subjectPublicKeyInfo, is: info)
        let service = try await open(.scp03(.factory))
        try await expect(service.certificates(of: reference).count, is: 2)
        try await service.store(certificates: [root, leaf], of: reference)
        try await service.store(authority: [1, 2, 3], of: reference)
        try await expect(service.certificates(of: reference), is: [root, leaf])
        try await expect(service.authorities(ofCard: true)[reference], is: [1, 2, 3])
        await service.close()
        let opened = try await open(.scp11(.a, host: try Self.host(), trust: .authority(root)))
        try await expect(opened.keys().isEmpty, is: false)
    }
}
