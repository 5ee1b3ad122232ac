// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKCrypto
import YKOpenPGP
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Commands for certificates.
struct OpenPGPCertificatesGroup: ParsableCommand {
    static let about = About(
        "Certificates of the slots.",
        subcommands: [
            "import": OpenPGPImportCertificate.self, "export": OpenPGPExportCertificate.self,
            "delete": OpenPGPDeleteCertificate.self,
        ],
        examples: [Example("ykit openpgp certificates export authentication certificate.pem")])
}

/// Imports a certificate into a slot.
struct OpenPGPImportCertificate: Verb {
    static let about = About(
        "Import a certificate from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12. If it contains several certificates, the one for the key in the slot is \
            imported, or, if the slot has no key, the one that issued none of the others.
            """,
        examples: [Example("ykit openpgp certificates import authentication certificate.pem")])
    static let answer = Shape(Item<OpenPGPSlot>("slot") { $0.description }, Item<X509Certificate>("certificate"))

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Argument("file", help: "The file with the certificate, - for standard input.", completion: .input) var file: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<(OpenPGPSlot, X509Certificate)> {
        let content = try fileOptions.certificates(file, run)
        let service = try await run.openOpenPGP()
        let key = try await unlessRefused { try await service.publicKey(slot) }
        let certificate = try content.certificate(for: key, in: file)
        try await service.checkRoom(for: certificate.der)
        try await run.askToReplaceCertificate(slot, service, confirmation)
        try await run.administer(admin, service, for: "store a certificate")
        try await service.putCertificate(certificate.der, slot)
        var outcome = Outcome(
            (slot, certificate), ["certificate stored in \(slot)"] + Table.details(certificate.rows(at: run.now)))
        if let key, certificate.publicKey != key {
            outcome.answer.warnings.append(
                Warning("other-key", "the certificate is for a different key than the one in the slot"))
        }
        return outcome
    }
}

/// Exports a certificate.
struct OpenPGPExportCertificate: Verb {
    static let about = About(
        "Write the certificate of a slot. No PIN is required.",
        examples: [Example("ykit openpgp certificates export authentication certificate.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var export: CertificateExport

    func run(in run: Run) async throws -> Outcome<ExportedCertificate> {
        let output = try export.output(run)
        let service = try await run.openOpenPGP()
        return try export.write(try X509Certificate(reading: try await service.certificate(slot)), of: slot, to: output)
    }
}

/// Deletes a certificate.
struct OpenPGPDeleteCertificate: Verb {
    static let about = About(
        "Delete the certificate of a slot; its key stays.",
        examples: [Example("ykit openpgp certificates delete authentication")])
    static let answer = Shape(Item<OpenPGPSlot>("slot") { $0.description })

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<OpenPGPSlot> {
        let service = try await run.openOpenPGP()
        _ = try await service.certificate(slot)
        try confirmation.ask("the certificate in \(slot) would be lost: delete it?", in: run)
        try await run.administer(admin, service, for: "delete a certificate")
        try await service.deleteCertificate(slot)
        return Outcome(slot, "certificate in \(slot) deleted")
    }
}

/// Creates an attestation for a key that was generated on the card.
struct OpenPGPAttest: Verb {
    static let about = About(
        "Attest that a YubiKey generated the key of a slot.",
        discussion: """
            The key overwrites the slot's certificate with the statement. ykit checks that the attestation key signed \
            it and that it is for the key in the slot. The attestation key must chain to Yubico's certificates, or with \
            --root to those; otherwise the statement is written, and the exit code is 8. 'ykit attest verify' verifies \
            the statement together with the certificate of the attestation key.
            """,
        examples: [Example("ykit openpgp attest signature attestation.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var trusted: TrustedCertificates

    @Argument("file", help: "The file to write the statement to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<OpenPGPAttestation> {
        var judge = AttestationJudge(at: run.now)
        (judge.roots, judge.intermediates) = try trusted.certificates()
        let output = try FileOutput(file, isText: true, force: confirmation.force, run)
        let service = try await run.openOpenPGP()
        try await run.askToReplaceCertificate(slot, service, confirmation)
        let pin = try await run.openPGPPIN(pin.source, .user, of: service, for: "attest a key")
        try await run.verify(pin, for: .signing, on: service)
        let statement = try await run.touchingOpenPGP(.attestation, service) {
            try X509Certificate(reading: try await service.attest(slot))
        }
        let device = try X509Certificate(reading: try await service.certificate(.attestation))
        judge.card = .openPGP(key: try await service.publicKey(slot))
        let verdict = judge.verdict(onOpenPGP: statement, device: device)
        if let finding = verdict.findings.first, verdict.result == .mismatch { throw finding }
        var outcome = Outcome(
            OpenPGPAttestation(slot: slot, statement: statement, output: file, device: device, verdict: verdict),
            "statement for \(slot) written to \(file)")
        outcome.answer.failure = verdict.findings.first.map { Explanation($0) }
        try output.put(Array(statement.pem.utf8), &outcome.answer)
        return outcome
    }
}

/// A statement that the card generated a key.
struct OpenPGPAttestation: Report {
    let slot: OpenPGPSlot
    let statement: X509Certificate
    let output: String
    let device: X509Certificate
    let verdict: AttestationVerdict
    static let members: [Member<OpenPGPAttestation>] = [
        Member("slot") { $0.slot.description },
        Member("result", "proven, notRooted and others, as of 'attest verify'") { $0.verdict.result.rawValue },
        Member("attestation", "PEM") { $0.statement.pem },
        Member("output") { $0.output },
        Member("deviceCertificate", "of the attestation key, PEM") { $0.device.pem },
        Member("chain", "the subjects of the signers") { $0.verdict.path.dropFirst().map(\.subject.description) },
        Member("rooted") { $0.verdict.isRooted },
        Member("reason", "why it is not proven") { $0.verdict.findings.first.map { Explanation($0).message } },
    ]
}

extension Run {
    /// Asks before overwriting a certificate.
    fileprivate func askToReplaceCertificate(
        _ slot: OpenPGPSlot, _ service: OpenPGPService, _ confirmation: Confirmation
    ) async throws {
        do { _ = try await service.certificate(slot) } catch {
            guard case .noCertificate = error else { throw error }
            return
        }
        try confirmation.ask("the certificate in \(slot) would be lost: overwrite it?", in: self)
    }
}
