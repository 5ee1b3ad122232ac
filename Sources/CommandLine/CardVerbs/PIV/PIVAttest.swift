// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKManagement
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Shows the content of an attestation, and verifies it.
struct PIVAttest: Verb {
    static let about = About(
        "Verify that a key pair was generated on this security key.",
        discussion: """
            The attestation is checked against the certificate in f9, which must chain to Yubico's certificates, or \
            with --root to those of another vendor, and compared with the slot, the card's serial number and the key \
            that the card reports. If the key requires neither PIN nor touch, it also signs a random challenge; \
            otherwise the attestation is no proof that the key is here, and 'ykit attest prove' makes one. The exit \
            code is 8 if anything does not match; to trust a single key, export its f9 certificate and give that with \
            --root. 'ykit piv keys attest' writes the attestation to a file.
            """,
        examples: [
            Example("ykit piv attest 9a"),
            Example("ykit piv attest 9a --root root.pem", "Trust only the certificates in root.pem."),
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var trusted: TrustedCertificates

    func run(in run: Run) async throws -> Outcome<PIVAttestationReport> {
        var judge = AttestationJudge(at: run.now)
        (judge.roots, judge.intermediates) = try trusted.certificates()
        let service = try await run.openPIV()
        let attested = try await AttestedSlot(slot, service)
        let device = try await service.certificate(.attestation)
        judge.card = attested.card
        let proof = try await run.perform { try await attested.proof(service, run) }
        judge.challenge = proof.map { AttestationChallenge($0.challenge) }
        let report = PIVAttestationReport(
            slot: slot, attestation: attested.statement, device: device,
            verdict: judge.verdict(
                on: attested.statement, device: device, proofs: proof.map { [$0] } ?? []))
        var outcome = Outcome(report, report.lines)
        outcome.answer.failure = report.verdict.findings.first.map { Explanation($0) }
        return outcome
    }
}

/// What an attestation says, and whether it is authentic.
struct PIVAttestationReport: Report {
    let slot: PIVSlot
    let attestation: X509Certificate
    let device: X509Certificate
    let verdict: AttestationVerdict
    static let members: [Member<PIVAttestationReport>] = [
        Member("slot") { $0.slot.description },
        Member("result", "proven, mismatch, notRooted and others, as of 'attest verify'") {
            $0.verdict.result.rawValue
        },
        Member("algorithm", title: "algorithm", absent: "not reported") { $0.algorithm },
        Member("firmware", title: "firmware", absent: "not reported") { $0.verdict.firmware?.description },
        Member("serial", title: "serial", absent: "not reported") { $0.verdict.serial.map { String($0) } },
        Member("pinPolicy", title: "PIN policy", absent: "not reported") { $0.verdict.pinPolicy },
        Member("touchPolicy", title: "touch policy", absent: "not reported") { $0.verdict.touchPolicy },
        Member("formFactor", title: "form factor", absent: "not reported") { $0.verdict.formFactor?.description },
        Member("chain", "the subjects of its signers", title: "signed by") { $0.signers?.map(\.subject.description) },
        Member("rooted") { $0.verdict.isRooted },
        Member("reason", "why it is not proven") { $0.verdict.findings.first.map { Explanation($0).message } },
        Member("notShown", "presence: the key signed no challenge; card: the card does not report its key") {
            $0.verdict.notShown.map(\.rawValue)
        },
        Member(
            "advisories", "published flaws of the firmware that concern the key",
            rows: { $0.verdict.advisories.map { ["advisory", $0.title] } + $0.verdict.gapRows }
        ) { $0.verdict.advisories },
        Member("attestation", "PEM") { $0.attestation.pem },
        Member("deviceCertificate", "in f9, PEM") { $0.device.pem },
    ]

    /// Whether the key in f9 signed the attestation; otherwise nothing in it is shown.
    private var isSigned: Bool { verdict.path.count > 1 }

    private var signers: [X509Certificate]? { isSigned ? Array(verdict.path.dropFirst()) : nil }

    private var algorithm: String? {
        isSigned ? attestation.publicKey.flatMap { PIVAlgorithm($0)?.description } : nil
    }

    var lines: [String] { isSigned ? details : [] }
}
