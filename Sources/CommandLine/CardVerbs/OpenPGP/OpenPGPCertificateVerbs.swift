// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import Words
import YKCrypto
import YKOpenPGP
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Commands for certificates.
struct OpenPGPCertificatesGroup: ParsableCommand {
    static let about = About(
        "certificates", "Certificates of the slots.",
        subcommands: [
            OpenPGPImportCertificate.self, OpenPGPExportCertificate.self, OpenPGPDeleteCertificate.self,
        ],
        examples: [Example("ykit openpgp certificates export authentication certificate.pem")])
}

/// Imports a certificate into a slot.
struct OpenPGPImportCertificate: Verb {
    static let about = About(
        "import", "Import a certificate from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12. If it contains several certificates, the one for the key in the slot is \
            imported, or, if the slot has no key, the one that issued none of the others.
            """,
        examples: [Example("ykit openpgp certificates import authentication certificate.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @Argument("file", help: "The file with the certificate, - for standard input.", completion: .file) var file: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<ImportedOpenPGPCertificate> {
        let content = try fileOptions.certificates(file, run)
        let service = try await run.openOpenPGP()
        let key = try await unlessRefused { try await service.publicKey(slot) }
        let certificate = try content.certificate(for: key, in: file)
        try await service.checkRoom(for: certificate.der)
        try await run.askToReplaceCertificate(slot, service, confirmation)
        try await run.administer(admin, service, for: "store a certificate")
        try await service.putCertificate(certificate.der, slot)
        var outcome = Outcome(
            ImportedOpenPGPCertificate(slot: slot, certificate: certificate),
            ["certificate stored in \(slot)"] + Table.details(certificate.rows(at: run.now)))
        if let key, certificate.publicKey != key {
            outcome.answer.warnings.append("the certificate is for a different key than the one in the slot")
        }
        return outcome
    }
}

/// A certificate that was imported into a slot.
struct ImportedOpenPGPCertificate: Report {
    let slot: OpenPGPSlot
    let certificate: X509Certificate
    static let members: [Member<ImportedOpenPGPCertificate>] = [
        Member("slot") { $0.slot.description },
        Member("certificate") { $0.certificate },
    ]
}

/// Exports a certificate.
struct OpenPGPExportCertificate: Verb {
    static let about = About(
        "export", "Write the certificate of a slot. No PIN is required.",
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
        "delete", "Delete the certificate of a slot; its key stays.",
        examples: [Example("ykit openpgp certificates delete authentication")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var admin: AdminPINOptions

    func run(in run: Run) async throws -> Outcome<ClearedSlot> {
        let service = try await run.openOpenPGP()
        _ = try await service.certificate(slot)
        try confirmation.ask("the certificate in \(slot) would be lost; continue?", in: run)
        try await run.administer(admin, service, for: "delete a certificate")
        try await service.deleteCertificate(slot)
        return Outcome(ClearedSlot(slot: slot.description), "certificate in \(slot) deleted")
    }
}

/// Creates an attestation for a key that was generated on the card.
struct OpenPGPAttest: Verb {
    static let about = About(
        "attest", "Attest that a YubiKey generated the key of a slot.",
        discussion: """
            The key overwrites the slot's certificate with the statement. ykit checks that the attestation key signed \
            it and that it is for the key in the slot, and warns if the attestation key is not one of Yubico's. With \
            --root the attestation key must chain to one of those certificates, or the exit code is 8.
            """,
        examples: [Example("ykit openpgp attest signature attestation.pem")])

    @Argument("slot", help: "The slot.") var slot: OpenPGPSlot

    @OptionGroup var trusted: TrustedCertificates

    @Argument("file", help: "The file to write the statement to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<OpenPGPAttestation> {
        let chain = try trusted.chain(orElse: .yubicoOpenPGP)
        let output = try FileOutput(file, isText: true, force: confirmation.force, run)
        let service = try await run.openOpenPGP()
        try await run.askToReplaceCertificate(slot, service, confirmation)
        let pin = try await run.openPGPPIN(pin.source, .user, of: service, for: "attest a key")
        try await run.verify(pin, for: .signing, on: service)
        let statement = try await run.touchingOpenPGP(.attestation, service) {
            try X509Certificate(reading: try await service.attest(slot))
        }
        let device = try X509Certificate(reading: try await service.certificate(.attestation))
        let isOnKey = try await statement.attests(service.publicKey(slot))
        guard isOnKey ?? true else { throw Self.wrong("another key") }
        guard device.publicKey.map(statement.isSigned) ?? false else { throw Self.wrong("another signature") }
        var report = OpenPGPAttestation(slot: slot, statement: statement, output: file, device: device)
        let (warnings, failure) = judge(&report, isOnKey: isOnKey != nil, chain, at: run.now)
        var outcome = Outcome(report, "statement for \(slot) written to \(file)")
        (outcome.answer.warnings, outcome.answer.failure) = (warnings, failure)
        try output.put(Array(statement.pem.utf8), &outcome.answer)
        return outcome
    }

    /// Checks whether the attestation key comes from a vendor, and whether the key in the statement could be compared
    /// with the card's; this affects the result only if roots were given.
    private func judge(
        _ report: inout OpenPGPAttestation, isOnKey: Bool, _ chain: AttestationChain, at now: Int64
    ) -> (warnings: [String], failure: Explanation?) {
        var warnings: [String] = []
        var failure: Explanation?
        do throws(PIVError) {
            let path = try chain.verify(report.statement, device: report.device, at: now)
            (report.signers, report.isRooted) = (Array(path.dropFirst()), true)
        } catch {
            if case .chain(let problem) = error {
                let reason = problem.explanation
                (report.signers, report.isRooted, report.reason) = ([report.device], false, reason.message)
                if trusted.areNamed {
                    failure = reason
                } else {
                    warnings.append("the attestation key is not one of Yubico's: \(reason.message)")
                }
            }
        }
        guard !isOnKey else { return (warnings, failure) }
        let type = report.statement.subjectPublicKeyInfo.algorithm.type
        let words = "the key in the statement cannot be compared with the card's: it has the unknown type \(type)"
        guard trusted.areNamed, failure == nil else { return (warnings + [words], failure) }
        (report.isRooted, report.reason) = (false, words)
        return (warnings, Explanation("not-comparable", .authentication, words))
    }

    private static func wrong(_ words: String) -> Explanation {
        Explanation("not-authentic", .authentication, "the statement has \(words) than it should have")
    }
}

/// A statement that the card generated a key.
struct OpenPGPAttestation: Report {
    let slot: OpenPGPSlot
    let statement: X509Certificate
    let output: String
    let device: X509Certificate
    /// The certificates that lead to a root; that of the attestation key alone if none do.
    var signers: [X509Certificate]?
    var isRooted: Bool?
    var reason: String?
    static let members: [Member<OpenPGPAttestation>] = [
        Member("slot") { $0.slot.description },
        Member("attestation", "PEM") { $0.statement.pem },
        Member("output") { $0.output },
        Member("deviceCertificate", "of the attestation key, PEM") { $0.device.pem },
        Member("chain", "the subjects of the signers") { $0.signers?.map(\.subject.description) },
        Member("rooted") { $0.isRooted },
        Member("reason", "why it does not chain to a trusted root") { $0.reason },
    ]
}

extension X509Certificate {
    /// Whether this certifies a public key; `nil` if its own key cannot be parsed. YubiKey 5.2 encodes a Curve25519 key
    /// as one on a curve with GnuPG's identifier, or with that identifier alone.
    fileprivate func attests(_ key: PublicKey) -> Bool? {
        if let own = publicKey { return own == key }
        guard case .x25519(let bytes) = key else { return nil }
        let curve25519: OID = "1.3.6.1.4.1.3029.1.5.1"
        let algorithm = subjectPublicKeyInfo.algorithm
        guard algorithm.type == curve25519 || algorithm.parameterType == curve25519 else { return nil }
        let bits = subjectPublicKeyInfo.key
        return bits == bytes || bits == [0x40] + bytes
    }
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
        try confirmation.ask("\(slot) has a certificate, which would be overwritten; continue?", in: self)
    }
}
