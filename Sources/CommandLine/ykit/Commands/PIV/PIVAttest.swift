// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKPIV
import YKTransport
import YKWire

/// Says what an attestation tells of a key, and checks it.
struct PIVAttest: Verb {
    static let configuration = CommandConfiguration(
        commandName: "attest", abstract: "Show and check that a key was made on this key.",
        discussion: """
            The attestation is checked against the certificate of f9, and up to Yubico's certificates, or with \
            --root up to those of another maker. 'ykit piv keys attest' writes it into a file.
            """)
    static let members = [
        "slot", "algorithm", "firmware", "serial", "pinPolicy", "touchPolicy", "formFactor", "chain", "rooted",
        "attestation", "device",
    ]

    @Argument(help: "The slot.")
    var slot: PIVSlot

    @Option(
        help: ArgumentHelp("Certificates that are trusted, PEM. Several times.", valueName: "file"),
        completion: .file())
    var root: [String] = []

    @Option(
        help: ArgumentHelp("Certificates that may stand in between, PEM. Several times.", valueName: "file"),
        completion: .file())
    var intermediate: [String] = []

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let roots = try root.flatMap(KeyFile.certificates)
        let others = try intermediate.flatMap(KeyFile.certificates)
        let service = try await world.openPIV()
        let attestation = try await service.attest(slot)
        let device = try await service.certificate(.attestation)
        let named = AttestationChain(roots: roots, others: others)
        let (path, isRooted) = try Self.path(from: attestation, device, to: named, at: world.now)
        let facts = try PIVAttestation(attestation)
        var answer = Answer()
        Self.describe(facts, attestation, path, &answer)
        if !isRooted {
            answer.warnings = ["no maker vouches for f9 here; name its root certificate with --root FILE"]
        }
        answer.members["serial"] = facts.serial.flatMap(Int64.init(exactly:)).map(JSON.int) ?? .null
        answer.members["slot"] = .string(slot.description)
        answer.members["chain"] = .array(path.dropFirst().map { .string($0.subject) })
        answer.members["rooted"] = .bool(isRooted)
        answer.members["attestation"] = .string(attestation.pem)
        answer.members["device"] = .string(device.pem)
        return answer
    }

    /// Up to the roots that were named, else to Yubico's; where nobody known vouches for f9, it has to do itself.
    private static func path(
        from attestation: PIVCertificate, _ device: PIVCertificate, to named: AttestationChain, at time: Int64
    ) throws(PIVError) -> (path: [PIVCertificate], isRooted: Bool) {
        let chain = named.roots.isEmpty ? AttestationChain.yubico.trusting(named) : named
        do { return (try chain.verify(attestation, device: device, at: time), true) } catch {
            guard named.roots.isEmpty, case .chain(.noIssuer) = error else { throw error }
            let own = AttestationChain(roots: [device])
            return (try own.verify(attestation, device: device, at: time), false)
        }
    }

    private static func describe(
        _ facts: PIVAttestation, _ attestation: PIVCertificate, _ path: [PIVCertificate], _ answer: inout Answer
    ) {
        let algorithm = attestation.publicKey.flatMap { PIVAlgorithm($0)?.description }
        let members: [(name: String, title: String, value: String?)] = [
            ("algorithm", "algorithm", algorithm), ("firmware", "firmware", facts.firmware?.description),
            ("serial", "serial", facts.serial.map(String.init)),
            ("pinPolicy", "PIN policy", facts.policies?.pin.description),
            ("touchPolicy", "touch policy", facts.policies?.touch.description),
            ("formFactor", "form factor", facts.formFactor.map { Hex.encode([$0]) }),
        ]
        for member in members { answer.members[member.name] = member.value.map(JSON.string) ?? .null }
        let signers = path.dropFirst().map(\.subject.printable).joined(separator: ", ")
        answer.lines = Table.lines(members.map { [$0.title, $0.value ?? "not told"] } + [["signed by", signers]])
    }
}
