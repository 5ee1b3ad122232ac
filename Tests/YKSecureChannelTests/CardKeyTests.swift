// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire
import YKX509

@testable import YKSecureChannel
@testable import YKVirtualKey

/// How the card's key for SCP11 is found and trusted. Each failure comes before an application is selected.
@Suite struct CardKeyTests {
    private typealias Step = ScriptedLink.Step
    private static let keysRequest: [UInt8] = [0x00, 0xCA, 0x00, 0xE0]
    private static let authoritiesRequest: [UInt8] = [0x00, 0xCA, 0xFF, 0x33]
    private static let certificatesRequest: [UInt8] = [0x00, 0xCA, 0xBF, 0x21]
    private static let list: [UInt8] = [
        0xC0, 0x04, 0x01, 0xFF, 0x88, 0x10, 0xC0, 0x04, 0x13, 0x02, 0xB1, 0x20, 0xC0, 0x04, 0x10, 0x07, 0xB0, 0x41,
    ]
    private static let reference = SCPKeyReference(id: 0x13, version: 0x02)

    /// The failure of SCP11b with a card that answers so, which was sent nothing more.
    private static func failure(
        _ steps: [Step], trust: SCP11Trust = .unverified, at now: Int64 = 1_800_000_000
    ) -> CardError? {
        let attempt = Attempt(.scp11(.b, trust: trust), steps, at: now)
        expect(attempt.commands.count, is: steps.count)
        return attempt.failure
    }

    @Test("a card without a Security Domain has no key")
    func missing() {
        for status: UInt16 in [0x6A82, 0x6999, 0x6A81, 0x6D00] {
            expect(Self.failure([Step([0x00, 0xA4], status)]), is: .appletMissing(.securityDomain))
        }
        let failure = Self.failure([Step([0x00, 0xA4], 0x6F00)])
        expect(failure, is: .status(.aborted, during: "SELECT \(AID.securityDomain.title)"))
    }

    @Test("a list without the key, or what is not a list")
    func keys() {
        func failure(_ status: UInt16, _ data: [UInt8] = []) -> CardError? {
            Self.failure([.selection, Step(Self.keysRequest, status, data)])
        }
        let none = CardError.secureChannel(.noSuchKey(SCPKeyReference(id: 0x13, version: 0)))
        expect(failure(0x6A88), is: none)
        expect(failure(0x9000), is: none)
        expect(failure(0x9000, [0xE0, 0x06] + Self.list.prefix(6)), is: none)
        expect(failure(0x6982), is: .status(.securityStatusNotSatisfied, during: "GET DATA"))
        let many = Array([[UInt8]](repeating: [0xC0, 0x02, 0x01, 0x01], count: 129).joined())
        for bytes: [UInt8] in [[0xC0], [0xC0, 0x01, 0x13], [0xC0, 0x03, 0x13, 0x01, 0xB1], [0xC1, 0x00], many] {
            guard case .malformed(_, "GET DATA (keys)") = failure(0x9000, bytes) else {
                Issue.record("\(Hex.encode(bytes.prefix(8))) was taken")
                return
            }
        }
    }

    @Test("a key without certificates, or with unreadable ones")
    func certificates() throws {
        func failure(_ status: UInt16, _ data: [UInt8] = []) -> CardError? {
            Self.failure([
                .selection, Step(Self.keysRequest, 0x9000, Self.list), Step(Self.certificatesRequest, status, data),
            ])
        }
        expect(failure(0x6A88), is: .secureChannel(.noCertificate(Self.reference)))
        expect(failure(0x9000), is: .secureChannel(.noCertificate(Self.reference)))
        expect(failure(0x6D00), is: .status(.unknownInstruction, during: "GET DATA"))
        let leaf = try Chain.certificate(of: 5, by: 9)
        let ed25519 = try VirtualCertificate.make(
            PrivateKey(ed25519: Secret([UInt8](repeating: 5, count: 32))).publicKey, "5", signedBy: Chain.key(9), "9",
            serial: [5], [])
        let many = Array([[UInt8]](repeating: [0x30, 0x00], count: 17).joined())
        for bytes in [many, Array(leaf.dropLast()), leaf + [0x00], [0x30, 0x00], ed25519] {
            guard case .malformed(_, "GET DATA (certificates)") = failure(0x9000, bytes) else {
                Issue.record("\(bytes.count) bytes were taken")
                return
            }
        }
    }

    /// The reason for which a chain is not trusted, leaf last; `nil` when it is.
    private static func doubt(
        _ chain: [[UInt8]], _ anchor: [UInt8], at now: Int64 = 1_800_000_000
    ) -> String? {
        let steps = [
            Step.selection, Step(keysRequest, 0x9000, list),
            Step(certificatesRequest, 0x9000, Array(chain.joined())),
        ]
        let trusted = [Step.selection, Step([0x80, 0x88, 0x02, 0x13], 0x6F00)]
        let attempt = Attempt(.scp11(.b, trust: .authority(anchor)), steps + trusted, at: now)
        if case .secureChannel(.untrusted(let reason)) = attempt.failure {
            expect(attempt.commands.count, is: steps.count)
            return reason
        }
        expect(attempt.failure, is: .secureChannel(.hostRefused(reference, .aborted)))
        return nil
    }

    @Test("only a chain that leads to the given authority is trusted")
    func trust() throws {
        let root = try Chain.certificate(of: 1, by: 1, Chain.ca)
        let middle = try Chain.certificate(of: 2, by: 1, Chain.ca)
        let leaf = try Chain.certificate(of: 3, by: 2)
        expect(Self.doubt([middle, leaf], root), is: nil)
        expect(Self.doubt([root, middle, leaf], root), is: nil)
        expect(Self.doubt([leaf], middle), is: nil)
        let other = try Chain.certificate(of: 8, by: 8, Chain.ca)
        expect(Self.doubt([middle, leaf], other), is: "the card's certificates do not lead to the given one")
        expect(Self.doubt([leaf], root), is: "the card's certificates do not lead to the given one")
        expect(Self.doubt([middle, leaf], [0x30, 0x00]), is: "a certificate cannot be read")
        let powerless = try Chain.certificate(of: 2, by: 1, [Chain.agreement])
        #expect(Self.doubt([powerless, leaf], root) != nil)
        var forged = leaf
        forged[forged.count - 1] ^= 1
        #expect(Self.doubt([middle, forged], root) != nil)
        #expect(
            Self.doubt([middle, try Chain.certificate(of: 3, by: 2, [Chain.signature])], root)
                == "the card's certificate is not for key agreement")
        #expect(Self.doubt([middle, leaf], root, at: 1_000_000_000)?.contains("not yet valid") ?? false)
        #expect(Self.doubt([middle, leaf], root, at: 4_000_000_000)?.contains("expired") ?? false)
    }

    @Test("the public key itself may be given, of the first version there is")
    func pinned() throws {
        let attempt = Attempt(
            .scp11(.b, trust: .key(try Chain.point(3))),
            [
                .selection, Step(Self.keysRequest, 0x9000, Self.list), .selection,
                Step([0x80, 0x88, 0x02, 0x13], 0x6983),
            ])
        expect(attempt.failure, is: .secureChannel(.blocked(Self.reference)))
    }

    // MARK: The key that verifies the host

    /// The parameters of the first PERFORM SECURITY OPERATION after the card said which authorities it has.
    private static func authority(
        _ answers: [Step], wanting id: UInt8 = 0x10, identifier: [UInt8] = [1, 2, 3]
    ) throws -> (CardError?, [UInt8]?) {
        let host = try SCP11HostKey(
            privateKey: SharedSecret(Secret([UInt8](repeating: 5, count: 32))),
            certificates: [try Chain.certificate(of: 5, by: 9, [Chain.agreement, Chain.issuer(identifier)])],
            authority: SCPKeyReference(id: id, version: 0))
        let refusal = Step([0x80, 0x2A], 0x6A80)
        let attempt = Attempt(
            .scp11(.a, version: 1, host: host, trust: .key(try Chain.point(3))),
            [.selection] + answers + [.selection, refusal])
        let sent = attempt.commands.first { $0.starts(with: [0x80, 0x2A]) }
        return (attempt.failure, sent.map { Array($0[2..<4]) })
    }

    @Test("the authority is found by the identifier in the host's certificate, else by its number")
    func hostAuthorities() throws {
        let known: [UInt8] = [
            0x42, 0x01, 0x09, 0x83, 0x02, 0x10, 0x01, 0x42, 0x03, 0x01, 0x02, 0x03, 0x83, 0x02, 0x20, 0x04,
        ]
        let (failure, sent) = try Self.authority([Step(Self.authoritiesRequest, 0x9000, known)])
        expect(sent, is: [0x04, 0x20])
        expect(failure, is: .secureChannel(.certificateRefused(0, .incorrectParameters)))
        let keys = Step(Self.keysRequest, 0x9000, Self.list)
        for answer in [
            Step(Self.authoritiesRequest, 0x6A88), Step(Self.authoritiesRequest, 0x9000, Array(known.prefix(9))),
            Step(Self.authoritiesRequest, 0x9000, [0x42, 0x03, 0x01, 0x02, 0x03, 0x83, 0x01, 0x20]),
            Step(Self.authoritiesRequest, 0x9000, [0x42, 0x01, 0x09, 0x83, 0x02, 0x20, 0x04]),
        ] { try expect(Self.authority([answer, keys]).1, is: [0x07, 0x10]) }
        let missing = SCPKeyReference(id: 0x2F, version: 0)
        let (reason, nothing) = try Self.authority([Step(Self.authoritiesRequest, 0x6A88), keys], wanting: 0x2F)
        #expect(reason == .secureChannel(.noSuchKey(missing)) && nothing == nil)
    }

    // MARK: Certificates

    @Test("certificates are read as far as they are needed")
    func fields() throws {
        let key = Chain.field(0x0E, TLV(0x04, [7, 7]))
        let leaf = try X509Certificate(
            der: Chain.certificate(of: 5, by: 9, [Chain.agreement, Chain.issuer([1, 2, 3]), key]))
        #expect(try leaf.keyUsage == .keyAgreement && leaf.authorityKeyIdentifier == [1, 2, 3])
        try expect(leaf.subjectKeyIdentifier, is: [7, 7])
        #expect(try leaf.serial == [5] && leaf.p256Point == Chain.point(5))
        let bare = try X509Certificate(der: Chain.certificate(of: 5, by: 9, [Chain.field(0x0F, TLV(0x03, [0x00]))]))
        #expect(try bare.keyUsage == [] && bare.authorityKeyIdentifier == nil && bare.subjectKeyIdentifier == nil)
        #expect(throws: WireError.self) { try X509Certificate(der: [UInt8](repeating: 0x30, count: 1 << 16 + 1)) }
    }

    @Test("each truncation and changed byte of a certificate is an error or a value")
    func hostileCertificates() throws {
        let leaf = try Chain.certificate(of: 5, by: 9, [Chain.agreement, Chain.issuer([1, 2, 3])])
        for end in leaf.indices {
            #expect(throws: WireError.self, "\(end) bytes") { try X509Certificate(der: Array(leaf[..<end])) }
        }
        for place in leaf.indices {
            for value in [UInt8(0x00), 0x01, 0x7F, 0x80, 0x84, 0xFF] {
                var changed = leaf
                changed[place] = value
                if let point = try? X509Certificate(der: changed).p256Point { expect(point.count, is: 65) }
            }
        }
    }
}
