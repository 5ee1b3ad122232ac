// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Yubico's certificates, and that only their keys are vouched for.
struct AttestationTests {
    /// As developers.yubico.com/PKI tells them.
    private static let fingerprints = [
        "63ece914e54dd87915f34033c85af4c0696ba1512f8add66ced738331207b546",
        "62760c6a6ef91679f454c8902b80fd009825b3f25da90f1fbace2ec6586cd5a8",
        "4698a1d3389c3ec60016c216250f1d0439922832d65142327436376dc2942b55",
        "d4cc3f456fdaf4e7812a21aab1dfe9d8e27d24e2fd2d6f21c9940109f0daa754",
        "6de693f05376f5d8ca29069261e1c8626c75d503bd2edbfd75354cad1f722870",
        "2d55b7998f4e42569d6d8fa382b6dc77d1dacf07358b19701163892922b17052",
    ]
    private static let now: Int64 = 1_795_000_000

    @Test func knowsYubicosCertificates() {
        let yubico = AttestationChain.yubico
        #expect(yubico.roots.count == 2 && yubico.others.count == 4)
        #expect((yubico.roots + yubico.others).map { Hex.encode($0.fingerprint) } == Self.fingerprints)
        for root in yubico.roots { #expect(root.publicKey.map(root.isSigned) == true && root.issuer == root.subject) }
    }

    @Test func knowsYubicosCertificatesForOpenPGP() throws {
        let yubico = AttestationChain.yubicoOpenPGP
        #expect(yubico.roots.count == 2 && yubico.others.count == 5)
        let own = [yubico.roots[0]] + yubico.others[2...]
        #expect(
            own.map { Hex.encode($0.fingerprint) } == [
                "6937cfa21c2189a7b219c71db39ef7112ee24b8801b1521d8296d087f2eee615",
                "a53831d9649ab86bb1132e0a8a65eda9f7506d2b1495f76b3321960cc454c054",
                "5decb182e9357d4a835acf988e1ea29713737ee08bce0f0ba79da8f295dd0e9f",
                "8af24190cbd923f3a1750bd5023dfaf540cf3a5b240f000d129abf8a90a552fc",
            ])
        #expect(yubico.roots[0].publicKey.map(yubico.roots[0].isSigned) == true)
        let check = CertificatePathCheck(anchors: [yubico.roots[1].der], at: Self.now)
        for (last, first) in [(2, 0), (3, 1), (4, 1)] {
            let path = try check.path(from: yubico.others[last].der, others: [yubico.others[first].der])
            #expect(path == [yubico.others[last], yubico.others[first], yubico.roots[1]].map(\.der))
        }
    }

    @Test func leadsFromIntermediatesToTheRoot() throws {
        let yubico = AttestationChain.yubico
        for (last, first) in [(2, 0), (3, 1)] {
            let path = try yubico.verify(yubico.others[last], device: yubico.others[first], at: Self.now)
            #expect(path.map(\.subject.description).last == "CN=Yubico Attestation Root 1" && path.count == 3)
        }
        #expect(throws: PIVError.chain(.notSignedByDevice)) {
            try yubico.verify(yubico.others[2], device: yubico.others[1], at: Self.now)
        }
        #expect(throws: PIVError.chain(.notValidNow(subject: "CN=Yubico Attestation Root 1"))) {
            try yubico.verify(yubico.others[2], device: yubico.others[0], at: 0)
        }
    }

    @Test func trustsNoVirtualKeyUnlessToldTo() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256)
        let attestation = try await service.attest(.authentication)
        let device = try await service.certificate(.attestation)
        #expect(throws: PIVError.chain(.noIssuer(subject: "CN=ykit virtual PIV attestation"))) {
            try AttestationChain.yubico.verify(attestation, device: device, at: Self.now)
        }
        let own = AttestationChain(roots: [try X509Certificate(der: bench.key.state.piv.attestationRoot)])
        let path = try AttestationChain.yubico.trusting(own).verify(attestation, device: device, at: Self.now)
        #expect(path.count == 3)
    }
}
