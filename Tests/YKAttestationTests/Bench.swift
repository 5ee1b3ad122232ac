// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKAttestation
import YKCrypto
import YKFIDO
import YKOpenPGP
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// Virtual keys, what they attest, and published attestations of real ones.
struct Bench {
    static let now: Int64 = 1_795_000_000
    let key: VirtualKey

    init(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32 = 4711) throws {
        key = try VirtualKey.new(version, serial: serial)
    }

    /// A statement of a PIV key, the certificate in F9, and the root of the virtual key.
    struct Attested {
        let statement: X509Certificate
        let device: X509Certificate
        let root: X509Certificate
        let service: PIVService
        let slot: PIVSlot

        var judge: AttestationJudge {
            var judge = AttestationJudge(at: Bench.now)
            judge.roots = [root]
            return judge
        }

        var evidence: AttestationEvidence { AttestationEvidence(certificates: [device, statement]) }

        func proof(_ challenge: [UInt8]) async throws -> AttestationProof {
            let algorithm = try #require(statement.publicKey.flatMap { PIVAlgorithm($0) })
            let signature = try await service.sign(
                .message(AttestationProof.message(challenge)), slot, algorithm: algorithm)
            return AttestationProof(challenge: challenge, signature: signature)
        }
    }

    func piv(
        _ algorithm: PIVAlgorithm = .p256, _ slot: PIVSlot = .cardAuthentication,
        policies: KeyPolicies = KeyPolicies(pin: .never, touch: .never)
    ) async throws -> Attested {
        let service = try await openPIV()
        try await service.authenticate(with: .defaultKey())
        _ = try await service.generateKey(slot, algorithm, policies: policies)
        return Attested(
            statement: try await service.attest(slot), device: try await service.certificate(.attestation),
            root: try X509Certificate(der: key.state.piv.attestationRoot), service: service, slot: slot)
    }

    func openPIV() async throws -> PIVService {
        try await PIVService.open(
            CardChannel(link: key.link(), environment: ServiceEnvironment(clock: FixedClock(Self.now))))
    }

    /// A statement of an OpenPGP key, the certificate of the attestation key, and the root of the virtual key.
    func openPGP() async throws -> (statement: X509Certificate, device: X509Certificate, root: X509Certificate) {
        let service = try await OpenPGPService.open(
            CardChannel(link: key.link(), environment: ServiceEnvironment(clock: FixedClock(Self.now))))
        try await service.verify(Secret(utf8: "12345678"), for: .administration)
        _ = try await service.generateKey(.signature, .curve(.p256))
        try await service.setTouch(.on, .signature)
        try await service.verify(Secret(utf8: "123456"), for: .signing)
        return (
            try X509Certificate(der: try await service.attest(.signature)),
            try X509Certificate(der: try await service.certificate(.attestation)),
            try X509Certificate(der: key.state.openPGP.attestationRoot)
        )
    }

    /// A published file.
    static func fixture(_ name: String) -> [UInt8] { Recordings.fixture("attestation/\(name)") }

    /// Two certificates of a published attestation.
    static func published(_ name: String) throws -> [X509Certificate] {
        try ["att", "int"].map { part in
            let blocks = PEM.contents("CERTIFICATE", in: fixture("\(name)-\(part).pem"))
            return try X509Certificate(der: try #require(blocks.first))
        }
    }

    /// The only verdict on certificates.
    static func verdict(
        _ certificates: [X509Certificate], _ judge: AttestationJudge = AttestationJudge(at: now)
    ) throws -> AttestationVerdict {
        let verdicts = judge.verdicts(on: AttestationEvidence(certificates: certificates))
        try #require(verdicts.count == 1)
        return verdicts[0]
    }

    /// The evidence in files.
    static func evidence(_ files: [UInt8]...) throws -> AttestationEvidence {
        var evidence = AttestationEvidence()
        for file in files { try evidence.add(file) }
        return evidence
    }
}

/// Runs a shell script and returns what it writes.
func shell(_ script: String, input: [UInt8] = []) throws -> [UInt8] {
    let folder = "/tmp/ykattest.\(getpid()).\(UInt64.random(in: 0 ... .max))"
    mkdir(folder, 0o700)
    defer { _ = system("rm -rf \(folder)") }
    for (name, bytes) in [("script", Array(script.utf8)), ("input", input)] {
        let file = try #require(fopen("\(folder)/\(name)", "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
    expect(system("cd \(folder) && bash -e script < input > output 2> errors"), is: 0)
    return Recordings.read("\(folder)/output")
}
