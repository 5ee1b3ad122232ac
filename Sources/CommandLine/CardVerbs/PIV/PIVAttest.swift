// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import Words
import YKManagement
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Shows the content of an attestation, and verifies it.
struct PIVAttest: Verb {
    static let about = About(
        "attest", "Verify that a key pair was generated on this security key.",
        discussion: """
            The attestation is checked against the certificate in f9, which must chain to Yubico's certificates, or \
            with --root to those of another vendor. The exit code is 8 if it does not; to trust a single key, export \
            its f9 certificate and give that with --root. 'ykit piv keys attest' writes the attestation to a file.
            """,
        examples: [
            Example("ykit piv attest 9a"),
            Example("ykit piv attest 9a --root root.pem", "Trust only the certificates in root.pem."),
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var trusted: TrustedCertificates

    func run(in run: Run) async throws -> Outcome<PIVAttestationReport> {
        let chain = try trusted.chain(orElse: .yubico)
        let service = try await run.openPIV()
        let attestation = try await service.attest(slot)
        let device = try await service.certificate(.attestation)
        let facts = try PIVAttestation(attestation)
        var report = PIVAttestationReport(slot: slot, attestation: attestation, device: device, facts: facts)
        do throws(PIVError) {
            report.path = try chain.verify(attestation, device: device, at: run.now)
        } catch {
            guard case .chain(let problem) = error else { throw error }
            // The statement of an unknown device is shown; one signed by a different key is not.
            if problem != .notSignedByDevice { report.path = [attestation, device] }
            report.problem = problem.explanation
        }
        var outcome = Outcome(report, report.lines)
        outcome.answer.failure = report.problem
        return outcome
    }
}

/// What an attestation says, and whether it is authentic.
struct PIVAttestationReport: Report {
    let slot: PIVSlot
    let attestation: X509Certificate
    let device: X509Certificate
    let facts: PIVAttestation
    /// The attestation and its signers, up to a root if there is one; `nil` if another key signed it.
    var path: [X509Certificate]?
    /// Why it is not authentic.
    var problem: Explanation?
    static let members: [Member<PIVAttestationReport>] = [
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.algorithm },
        Member("firmware") { $0.signed?.firmware?.description },
        Member("serial") { $0.facts.serial.map { String($0) } },
        Member("pinPolicy") { $0.signed?.policies?.pin.description },
        Member("touchPolicy") { $0.signed?.policies?.touch.description },
        Member("formFactor") { $0.formFactor },
        Member("chain", "the subjects of its signers") { $0.signers?.map(\.subject.description) },
        Member("rooted") { $0.problem == nil },
        Member("reason", "why it does not chain to a trusted root") { $0.problem?.message },
        Member("attestation", "PEM") { $0.attestation.pem },
        Member("deviceCertificate", "in f9, PEM") { $0.device.pem },
    ]

    /// What the attestation says, if the key in f9 signed it.
    private var signed: PIVAttestation? { path == nil ? nil : facts }

    private var signers: [X509Certificate]? { path.map { Array($0.dropFirst()) } }

    private var formFactor: String? { signed?.formFactor.map { FormFactor(rawValue: $0 & 0x0F).description } }

    private var algorithm: String? {
        signed == nil ? nil : attestation.publicKey.flatMap { PIVAlgorithm($0)?.description }
    }

    /// The rows of a table for people.
    var lines: [String] {
        guard let signed, let signers else { return [] }
        let rows: [(title: String, value: String?)] = [
            ("algorithm", algorithm), ("firmware", signed.firmware?.description),
            ("serial", signed.serial.map(String.init)), ("PIN policy", signed.policies?.pin.description),
            ("touch policy", signed.policies?.touch.description),
            ("form factor", formFactor),
        ]
        return Table.details(
            rows.map { [$0.title, $0.value ?? "not reported"] }
                + [["signed by", signers.map(\.subject.description.printable).listed()]])
    }
}
