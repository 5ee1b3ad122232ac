// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCrypto
import YKPIV
import YKTestSupport
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
        "0fa1386f80eb8713263ae5c1d84deb455bdf08aea50ab05503cefee82b092d42",
        "4698a1d3389c3ec60016c216250f1d0439922832d65142327436376dc2942b55",
        "d4cc3f456fdaf4e7812a21aab1dfe9d8e27d24e2fd2d6f21c9940109f0daa754",
        "6de693f05376f5d8ca29069261e1c8626c75d503bd2edbfd75354cad1f722870",
        "2d55b7998f4e42569d6d8fa382b6dc77d1dacf07358b19701163892922b17052",
        "0c90b7d184a36edf50a35f9be935f0c5689bfdcfe5bdd073366cafb49061a440",
    ]
    private static let now: Int64 = 1_795_000_000

    @Test func knowsYubicosCertificates() {
        let yubico = AttestationChain.yubico
        #expect(yubico.roots.count == 3 && yubico.others.count == 5)
        expect((yubico.roots + yubico.others).map { Hex.encode($0.fingerprint) }, is: Self.fingerprints)
        for root in yubico.roots { #expect(root.publicKey.map(root.isSigned) == true && root.issuer == root.subject) }
    }

    @Test func knowsYubicosCertificatesForOpenPGP() throws {
        let yubico = AttestationChain.yubicoOpenPGP
        #expect(yubico.roots.count == 2 && yubico.others.count == 5)
        let own = [yubico.roots[0]] + yubico.others[2...]
        expect(
            own.map { Hex.encode($0.fingerprint) },
            is: [
                "6937cfa21c2189a7b219c71db39ef7112ee24b8801b1521d8296d087f2eee615",
                "a53831d9649ab86bb1132e0a8a65eda9f7506d2b1495f76b3321960cc454c054",
                "5decb182e9357d4a835acf988e1ea29713737ee08bce0f0ba79da8f295dd0e9f",
                "8af24190cbd923f3a1750bd5023dfaf540cf3a5b240f000d129abf8a90a552fc",
            ])
        expect(yubico.roots[0].publicKey.map(yubico.roots[0].isSigned), is: true)
        let check = CertificatePathCheck(anchors: [yubico.roots[1].der], at: Self.now)
        for (last, first) in [(2, 0), (3, 1), (4, 1)] {
            let path = try check.path(from: yubico.others[last].der, others: [yubico.others[first].der])
            expect(path, is: [yubico.others[last], yubico.others[first], yubico.roots[1]].map(\.der))
        }
    }

    @Test func leadsFromIntermediatesToTheRoot() throws {
        let yubico = AttestationChain.yubico
        for (last, first) in [(2, 0), (3, 1), (4, 1)] {
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
        expect(path.count, is: 3)
    }

    /// A certificate for the attestation key, by a root, with these extensions (none: version 1), and a statement by it.
    private func attested(
        _ extensions: [String], pathLength: Int = 1
    ) async throws -> (statement: X509Certificate, device: X509Certificate, chain: AttestationChain) {
        let folder = "/tmp/ykpiv-attest.\(getpid()).\(UInt64.random(in: 0 ... .max))"
        defer { _ = try? run(["rm", "-rf", folder]) }
        let script = """
            mkdir -p \(folder) && cd \(folder) && printf '%s\\n' "$@" > ext
            openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -subj '/CN=Root' -days 9000 \
              -addext basicConstraints=critical,CA:TRUE,pathlen:\(pathLength) 2>/dev/null
            openssl req -newkey rsa:2048 -nodes -keyout l -out r -subj '/CN=Yubico PIV Attestation' 2>/dev/null
            openssl x509 -req -in r -CA c -CAkey k -days 9000 $([ -n "$1" ] && echo -extfile ext) 2>/dev/null | cat c - l
            """
        let made = try run(["bash", "-c", script, "bash"] + extensions)
        let file = try KeyFile(made.output)
        let service = try await Bench().manage()
        _ = try await service.importKey(try #require(file.privateKey), .attestation)
        try await service.putCertificate(file.certificates[1].der, .attestation)
        _ = try await service.generateKey(.authentication, .p256)
        return (
            try await service.attest(.authentication), file.certificates[1],
            AttestationChain(roots: [file.certificates[0]])
        )
    }

    @Test(
        "the certificate of a device needs no basic constraints",
        arguments: [
            ([], 1), (["1.3.6.1.4.1.41482.3.3=DER:040304"], 1), (["1.3.6.1.4.1.41482.3.3=DER:040304"], 0),
            (["keyUsage=keyCertSign"], 1), (["basicConstraints=critical,CA:TRUE,pathlen:0"], 1),
        ])
    func acceptsSilentDevices(_ extensions: [String], _ pathLength: Int) async throws {
        let (statement, device, chain) = try await attested(extensions, pathLength: pathLength)
        try expect((device.basicConstraints != nil), is: extensions.contains { $0.hasPrefix("basic") })
        let path = try chain.verify(statement, device: device, at: device.notBefore + 60)
        expect(path, is: [statement, device] + chain.roots)
        #expect(throws: PIVError.chain(.noIssuer(subject: "CN=Yubico PIV Attestation"))) {
            try AttestationChain.yubico.verify(statement, device: device, at: device.notBefore + 60)
        }
    }

    @Test(
        "a certificate that says it is no authority, or is a statement about a key, is no device's",
        arguments: [
            "basicConstraints=CA:FALSE", "keyUsage=digitalSignature", "1.3.6.1.4.1.41482.3.8=DER:0101",
            "1.3.6.1.4.1.41482.3.7=DER:020101", "1.3.6.1.4.1.41482.5.2=DER:020101",
        ])
    func refusesOtherIssuers(_ text: String) async throws {
        let (statement, device, chain) = try await attested([text])
        #expect(throws: PIVError.chain(.notAuthority(subject: "CN=Yubico PIV Attestation"))) {
            try chain.verify(statement, device: device, at: device.notBefore + 60)
        }
    }

    @Test("only the device is exempt: the certificate above it has to be an authority's")
    func refusesSilentIntermediates() throws {
        let script = """
            d=$(mktemp -d) && cd $d && trap 'rm -rf $d' EXIT
            openssl req -x509 -newkey rsa:2048 -nodes -keyout 0.key -out 0.pem -subj /CN=0 -days 9000 2>/dev/null
            for n in 1 2 3; do
              openssl req -newkey rsa:2048 -nodes -keyout $n.key -out $n.csr -subj /CN=$n 2>/dev/null
              openssl x509 -req -in $n.csr -CA $((n-1)).pem -CAkey $((n-1)).key -days 9000 -out $n.pem 2>/dev/null
            done
            cat 0.pem 1.pem 2.pem 3.pem
            """
        let path = try KeyFile(try run(["bash", "-c", script]).output).certificates
        let chain = AttestationChain(roots: [path[0]], others: [path[1]])
        let time = path[3].notBefore + 60
        #expect(throws: PIVError.chain(.notAuthority(subject: "CN=1"))) {
            try chain.verify(path[3], device: path[2], at: time)
        }
        try expect(AttestationChain(roots: [path[0]]).verify(path[2], device: path[1], at: time).count, is: 3)
    }

    @Test("a firmware version of more than three bytes is read, one of fewer is refused")
    func readsLongVersions() async throws {
        for (value, isRead) in [("050703", true), ("05070301", true), ("0507", false)] {
            let (_, device, _) = try await attested(["1.3.6.1.4.1.41482.3.3=DER:\(value)"])
            if isRead {
                try expect(PIVAttestation(device).firmware, is: FirmwareVersion(5, 7, 3))
            } else {
                #expect(throws: PIVError.self) { try PIVAttestation(device) }
            }
        }
    }
}
