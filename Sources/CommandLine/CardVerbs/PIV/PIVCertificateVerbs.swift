// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKPIV
import YKUse
import YKWire
import YKX509

/// Commands for certificates.
struct PIVCertificates: ParsableCommand {
    static let about = About(
        "Manage certificates in slots, and certificate requests.",
        subcommands: [
            "generate": PIVGenerateCertificate.self, "request": PIVRequestCertificate.self,
            "import": PIVImportCertificate.self, "export": PIVExportCertificate.self,
            "delete": PIVDeleteCertificate.self,
        ],
        examples: [Example("ykit piv certificates generate 9a --subject CN=Alice")])
}

/// Generates a self-signed certificate.
struct PIVGenerateCertificate: Verb {
    static let about = About(
        "Generate a self-signed certificate for the key in a slot, and store it there.",
        discussion:
            "Requires the PIN and the management key. If the card does not report the public key, give its file.",
        examples: [
            Example("ykit piv certificates generate 9a --subject CN=Alice"),
            Example("ykit piv certificates generate 9a -s CN=Alice --san email:alice@example.com"),
        ])
    static let answer = Shape(
        [Item<PIVSlot>("slot") { $0.description }],
        [Item<X509Certificate>("certificate"), Item("pem", "the certificate") { $0.pem }])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("public-key", help: "The slot's public key, if the card does not report it.", completion: .file)
    var publicKey: String?

    @OptionGroup
    var subject: SubjectOptions

    @Option(["--days", "-d"], help: "Validity in days.") var days = 365

    @Flag(["--force", "-f"], help: "Replace a certificate in the slot without asking.") var force = false

    @OptionGroup var chuid: CHUIDOptions
    @OptionGroup var management: PIVManagementOptions

    func check() throws {
        let possible = PIVService.validDays
        guard possible.contains(days) else {
            throw UsageError("a certificate must be valid for \(possible.lowerBound) to \(possible.upperBound) days")
        }
    }

    func run(in run: Run) async throws -> Outcome<(PIVSlot, X509Certificate)> {
        let template = try subject.template()
        let given = try publicKey.map { try KeyFile.publicKey($0) }
        let service = try await run.openPIV()
        try await run.overwriting(service, force: force)?.confirmCertificate(in: slot)
        let unlocking = try await management.unlock(service, for: "store a certificate", run)
        let use = try await unlocking.prepare(
            slot, given.flatMap { PIVAlgorithm($0) }, .sign, for: "sign a certificate")
        let key = use.key ?? given
        let validity = Duration.seconds(days * 86_400)
        let certificate = try await use.touching(run.person) {
            try await service.selfSignedCertificate(use.slot, template, validity: validity, key: key)
        }
        try await service.putCertificate(certificate.der, slot, updatingCHUID: chuid.isUpdated)
        return Outcome(
            (slot, certificate), ["certificate stored in \(slot)"] + Table.details(certificate.rows(at: run.now)))
    }
}

/// Creates a certificate signing request.
struct PIVRequestCertificate: Verb {
    static let about = About(
        "Generate a certificate request (PKCS#10) for the key in a slot.",
        discussion: """
            The PIN is needed. If the card does not report the public key, give its file with --public-key. With \
            --attest the request contains the key's attestation and the certificate in f9, as that of yubico-piv-tool \
            does (extensions 1.3.6.1.4.1.41482.3.11 and .3.2).
            """,
        examples: [
            Example("ykit piv certificates request 9a request.pem --subject CN=Alice,O=Example"),
            Example("ykit piv certificates request 9a request.pem --subject CN=Alice --attest"),
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file to write the request to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup
    var subject: SubjectOptions

    @Option("--public-key <file>", help: "The slot's public key, if the card does not report it.")
    var publicKey: String?

    @Flag("--attest", help: "Include the attestation that the key was generated on this security key.")
    var attest = false

    @Option("--format", help: "Format of the request: pem or der.") var format: RequestFormat = .pem

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The format of a request.
    enum RequestFormat: String, CaseIterable, ExpressibleByArgument {
        case pem, der
    }

    func run(in run: Run) async throws -> Outcome<PIVCertificateRequest> {
        let output = try FileOutput(file, isText: format == .pem, force: replacing.force, run)
        var template = try subject.template()
        let given = try publicKey.map { try KeyFile.publicKey($0) }
        let service = try await run.openPIV()
        let attested = try await attest ? AttestedSlot(slot, service) : nil
        try attested?.check()
        if let attested {
            template.attestation = (attested.statement.der, try await service.certificate(.attestation).der)
        }
        let known = attested?.statement.publicKey ?? given
        let unlocking = run.piv(service, pin)
        let use = try await unlocking.prepare(slot, known.flatMap { PIVAlgorithm($0) }, .sign, for: "sign a request")
        let (key, signed) = (use.key ?? known, template)
        let der = try await use.touching(run.person) {
            try await service.certificateRequest(use.slot, signed, key: key)
        }
        let pem = PEM.encode("CERTIFICATE REQUEST", der)
        let report = PIVCertificateRequest(
            slot: slot, subject: template.subject, format: format,
            text: format == .pem ? pem : Base64.encodeURL(der), output: file)
        return try output.put(
            format == .pem ? Array(pem.utf8) : der, of: report,
            "request for \(template.subject.description.printable) written to \(file)")
    }
}

/// A certificate signing request.
struct PIVCertificateRequest: Report {
    let slot: PIVSlot
    let subject: DistinguishedName
    let format: PIVRequestCertificate.RequestFormat
    let text: String
    let output: String
    static let members: [Member<PIVCertificateRequest>] = [
        Member("slot") { $0.slot.description },
        Member("subject") { $0.subject.description },
        Member("format") { $0.format.rawValue },
        Member("request", "in that format, der in base64url") { $0.text },
        Member("output") { $0.output },
    ]
}

/// Imports a certificate into a slot.
struct PIVImportCertificate: Verb {
    static let about = About(
        "Import a certificate from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12. If it contains several certificates, the one for the key in the slot is \
            imported, or, if the card does not report its keys, the one that issued none of the others. A certificate \
            for another key is refused. Requires the management key.
            """,
        examples: [Example("ykit piv certificates import 9a certificate.pem")])
    typealias Reported = (slot: PIVSlot, certificate: X509Certificate, isCompressed: Bool, belongs: Bool?)
    static let answer = Shape<Reported>(
        Member("slot") { $0.slot.description },
        Member("certificate") { $0.certificate },
        Member("compressed") { $0.isCompressed },
        Member("belongs", "whether it is for the key in the slot; null if that was not checked") { $0.belongs })

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file with the certificate, - for standard input.", completion: .input) var file: String

    @Flag(["--compress", "-c"], help: "Compress it, to save space on the key.") var compress = false

    @Flag("--no-check", help: "Do not check whether it belongs to the key in the slot.") var noCheck = false

    @Flag(["--force", "-f"], help: "Replace a certificate in the slot without asking.") var force = false

    @OptionGroup var chuid: CHUIDOptions
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let content = try fileOptions.certificates(file, run)
        let service = try await run.openPIV()
        let (certificate, belongs, warnings) = try await choose(from: content, service)
        try await run.overwriting(service, force: force)?.confirmCertificate(in: slot)
        try await management.unlock(service, for: "store a certificate", run)
        do {
            try await service.putCertificate(
                certificate.der, slot, compressed: compress, updatingCHUID: chuid.isUpdated)
        } catch {
            throw explanation(of: error, certificate)
        }
        var outcome = Outcome(
            (slot: slot, certificate: certificate, isCompressed: compress, belongs: belongs),
            ["certificate stored in \(slot)"] + Table.details(certificate.rows(at: run.now)))
        outcome.answer.warnings = warnings
        return outcome
    }

    /// Explains why a certificate was not stored; compressing it is advised only if that would help.
    private func explanation(of error: PIVError, _ certificate: X509Certificate) -> Explanation {
        var explanation = Explanation(error)
        let isTooLong =
            switch error {
            case .full, .refusedLength: true
            default: false
            }
        let packed = (try? CertificateObject(certificate: certificate.der, compressed: true))?.stored.count ?? .max
        if isTooLong, compress || packed > certificate.der.count * 9 / 10 {
            explanation.hint = "delete another certificate; compressing does not make this one fit"
        }
        return explanation
    }

    /// Returns the certificate to import, whether it belongs to the key in the slot, and warnings. `belongs` is `nil`
    /// if the slot has no key, if the card does not report the key, and with `--no-check`.
    private func choose(
        from content: KeyFile, _ service: PIVService
    ) async throws -> (X509Certificate, belongs: Bool?, warnings: [Warning]) {
        if noCheck { return (try content.certificate(in: file), nil, []) }
        var warnings: [Warning] = []
        do {
            if let found = try await service.certificate(in: content, belongingTo: slot) { return (found, true, []) }
        } catch {
            switch error {
            case .noKey: warnings.append(Warning("no-key", "slot \(slot) has no key"))
            case .pinRequired, .unfit:
                warnings.append(
                    Warning("not-checked", "the card does not report which key is in \(slot), so it was not checked"))
            case .invalidFile(let cause): throw Concerning(.file(file), cause)
            default: throw error
            }
        }
        return (try content.certificate(in: file), nil, warnings)
    }
}

/// Exports a certificate.
struct PIVExportCertificate: Verb {
    static let about = About(
        "Export the certificate of a slot. Needs no PIN.",
        discussion: "--format ssh gives its public key as a line for authorized_keys.",
        examples: [Example("ykit piv certificates export 9a certificate.pem")])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var export: CertificateExport

    func run(in run: Run) async throws -> Outcome<ExportedCertificate> {
        let output = try export.output(run)
        let service = try await run.openPIV()
        return try export.write(try await service.certificate(slot), of: slot, to: output)
    }
}

/// Deletes a certificate.
struct PIVDeleteCertificate: Verb {
    static let about = About(
        "Delete the certificate of a slot; its key stays.",
        discussion: "Requires the management key.",
        examples: [Example("ykit piv certificates delete 9a")])
    static let answer = Shape(Item<PIVSlot>("slot") { $0.description })

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var chuid: CHUIDOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<PIVSlot> {
        let service = try await run.openPIV()
        guard let object = slot.certificateObject else { throw PIVError.unusableSlot(slot) }
        guard try await !service.object(object).isEmpty else { throw PIVError.noSuchObject(object) }
        try confirmation.ask("the certificate in \(slot) would be lost: delete it?", in: run)
        try await management.unlock(service, for: "delete a certificate", run)
        try await service.deleteCertificate(slot, updatingCHUID: chuid.isUpdated)
        return Outcome(slot, "deleted the certificate in \(slot)")
    }
}

/// Whether a change of a certificate is announced to programs.
struct CHUIDOptions: ParsableArguments {
    @Flag(
        "--update-chuid",
        help: "Give the card a new CHUID, so that programs that cache its certificates read them again.")
    var isUpdated = false
}

/// The content of a certificate or a request.
struct SubjectOptions: ParsableArguments {
    @Option(["--subject <name>", "-s"], help: "The subject, as in CN=Alice,O=Example (RFC 4514).") var subject: String

    @Option(
        "--san <name>",
        help:
            """
            A subject alternative name: dns:example.com, email:a@example.com, uri:https://example.com, ip:192.0.2.1, \
            upn:alice@example.com, dirname:CN=Alice, rid:1.2.3 or othername:1.2.3;UTF8:text; may be repeated.
            """
    )
    var alternativeNames: [String] = []

    @Option("--hash", help: "The hash of the signature: sha256, sha384, sha512 or sha1; Ed25519 has a fixed one.")
    var hash: HashChoice = .sha256

    func template() throws -> CertificateTemplate {
        CertificateTemplate(
            subject: try DistinguishedName(subject.contains("=") ? subject : "CN=" + subject),
            alternativeNames: try alternativeNames.map(Self.alternativeName), hash: hash.algorithm)
    }

    private static func alternativeName(_ text: String) throws(Explanation) -> AlternativeName {
        do { return try AlternativeName(text) } catch {
            throw .usage("--san: \(error.reason.printable)", hint: "as in dns:example.com")
        }
    }
}
