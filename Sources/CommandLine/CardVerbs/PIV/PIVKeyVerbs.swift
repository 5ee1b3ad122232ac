// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKPIV
import YKUse
import YKWire
import YKX509

/// Commands for private keys.
struct PIVKeys: ParsableCommand {
    static let about = About(
        "Manage private keys in slots.",
        subcommands: [
            "generate": PIVGenerateKey.self, "import": PIVImportKey.self, "info": PIVKeyInfo.self,
            "export": PIVExportKey.self, "move": PIVMoveKey.self, "delete": PIVDeleteKey.self,
            "attest": PIVAttestKey.self,
        ],
        examples: [Example("ykit piv keys generate 9a public.pem")])
}

/// Generates a key pair.
struct PIVGenerateKey: Verb {
    static let about = About(
        "Generate a key pair on the security key. The private key never leaves it.",
        discussion: """
            The public key is written as PEM by default. Requires the management key. RSA keys take seconds to minutes.
            """,
        examples: [
            Example("ykit piv keys generate 9a public.pem"),
            Example("ykit piv keys generate 9c --algorithm rsa2048 --touch-policy always"),
        ])
    static let answer = Shape(StoredPIVKey.members, WrittenPublicKey.members)

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file to write the public key to, - for standard output.", completion: .file)
    var file = "-"

    @Option(
        ["--algorithm", "-a"],
        help: "Key algorithm: rsa1024, rsa2048, rsa3072, rsa4096, ecc-p256, ecc-p384, ed25519 or x25519.")
    var algorithm: PIVAlgorithm = .p256

    @OptionGroup
    var policies: KeyPolicyOptions

    @Option("--format", help: "Format of the public key: pem, der, ssh or age.") var format: PublicKeyFormat = .pem

    @Flag(["--force", "-f"], help: "Replace a key in the slot without asking, and the output file if it exists.")
    var force = false

    @Flag("--allow-weak-rsa", help: "Generate an RSA key even on firmware whose RSA keys can be broken (ROCA).")
    var allowWeakRsa = false

    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<(StoredPIVKey, WrittenPublicKey)> {
        let output = try FileOutput(file, isText: format.isText, force: force, run)
        let service = try await run.openPIV(isPatient: algorithm.modulusSize != nil)
        try await service.checkFit(slot, algorithm, policies.policies)
        try await run.overwriting(service, force: force)?.confirmKey(in: slot)
        try await management.unlock(service, for: "generate a key", run)
        let progress = algorithm.modulusSize.map { _ in Progress(run.terminal, "generating an \(algorithm) key") }
        defer { progress?.end() }
        let key = try await service.generateKey(
            slot, algorithm, policies: policies.policies, allowingWeakRSA: allowWeakRsa)
        progress?.end()
        let bytes = try format.encode(key, comment: "PIV-\(slot)")
        let written = WrittenPublicKey(format: format, bytes: bytes, output: file)
        var outcome = Outcome(
            (StoredPIVKey(slot: slot, algorithm: algorithm, policies: policies.policies), written),
            "generated an \(algorithm) key in \(slot); public key written to \(file)")
        output.keep(
            written.bytes, &outcome.answer,
            orElse: "the key was generated; write its public key with: ykit piv keys export \(slot) FILE",
            run.terminal)
        if outcome.answer.failure == nil { outcome.answer.failure = await policies.problem(of: slot, service) }
        return outcome
    }

    func check() throws {
        if format == .age, algorithm != .x25519, algorithm != .p256 {
            throw UsageError("an age recipient must be an x25519 or ecc-p256 key")
        }
        if format == .ssh, algorithm == .x25519 { throw UsageError("SSH has no format for x25519 keys") }
    }
}

/// A new key in a slot.
struct StoredPIVKey: Report {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let policies: KeyPolicies
    static let members: [Member<StoredPIVKey>] = [
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.algorithm.description },
        Member("pinPolicy") { $0.policies.pin.description },
        Member("touchPolicy") { $0.policies.touch.description },
    ]
}

/// Imports a private key into a slot.
struct PIVImportKey: Verb {
    static let about = About(
        "Import a private key from a file into a slot.",
        discussion: """
            The file is PEM, DER, PKCS#12 or an OpenSSH private key, encrypted or not. Requires the management key. An \
            imported key cannot be attested.
            """,
        examples: [Example("ykit piv keys import 9d private.pem")])
    static let answer = Shape(
        StoredPIVKey.members, [Item<PublicKey>("publicKey", "PEM") { $0.pem }],
        [Item<Int>("certificateCount", "the number of certificates in the file")])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file with the private key, - for standard input.", completion: .input) var file: String

    @OptionGroup
    var policies: KeyPolicyOptions

    @Flag(["--force", "-f"], help: "Replace a key in the slot without asking.") var force = false

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<(StoredPIVKey, PublicKey, Int)> {
        let (key, content) = try fileOptions.privateKey(file, run)
        let service = try await run.openPIV()
        if let algorithm = PIVAlgorithm(key.publicKey) {
            try await service.checkFit(slot, algorithm, policies.policies)
        }
        try await run.overwriting(service, force: force)?.confirmKey(in: slot)
        try await management.unlock(service, for: "import a key", run)
        let algorithm = try await service.importKey(key, slot, policies: policies.policies)
        let stored = StoredPIVKey(slot: slot, algorithm: algorithm, policies: policies.policies)
        var outcome = Outcome(
            (stored, key.publicKey, content.certificates.count), "imported an \(algorithm) key into \(slot)")
        outcome.answer.failure = await policies.problem(of: slot, service)
        if !content.certificates.isEmpty {
            outcome.answer.lines.append(
                "the file also has a certificate: ykit piv certificates import \(slot) \(file)")
        }
        return outcome
    }
}

/// Shows the metadata of a key.
struct PIVKeyInfo: Verb {
    static let about = About(
        "Show what the card reports about a key. Needs no PIN.",
        discussion:
            "Firmware before 5.3 reports nothing itself; ykit shows what the attestation or certificate contains.",
        examples: [Example("ykit piv keys info 9a")])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    func run(in run: Run) async throws -> Outcome<PIVKeyDescription> {
        let service = try await run.openPIV()
        let metadata = try await service.metadata(of: slot)
        let key: PublicKey? = if let metadata { metadata.publicKey } else { try await service.publicKey(slot) }
        let report = PIVKeyDescription(slot: slot, metadata: metadata, key: key)
        return Outcome(report, report.details)
    }
}

/// What is known about the key in a slot.
struct PIVKeyDescription: Report {
    let slot: PIVSlot
    let metadata: SlotMetadata?
    let key: PublicKey?
    static let members: [Member<PIVKeyDescription>] = [
        Member("slot", title: "slot", line: { "\($0.slot), \($0.slot.name)" }) { $0.slot.description },
        Member("algorithm", title: "algorithm", absent: "not known") { $0.algorithm },
        Member(
            "origin", title: "origin",
            line: { $0.metadata.map { $0.origin?.description ?? "not reported" } }
        ) { $0.metadata?.origin?.description },
        Member("pinPolicy", title: "PIN policy") { $0.metadata?.policies.pin.description },
        Member("touchPolicy", title: "touch policy") { $0.metadata?.policies.touch.description },
        Member("publicKey", "PEM") { $0.key?.pem },
    ]

    private var algorithm: String? { (metadata?.algorithm ?? key.flatMap { PIVAlgorithm($0) })?.description }
}

/// Exports a public key.
struct PIVExportKey: Verb {
    static let about = About(
        "Export the public key of a slot. Private keys never leave the security key.",
        discussion: """
            --format ssh gives a line for authorized_keys, --format age a recipient from an x25519 or ecc-p256 key. The \
            key that the card reports is used first, then that of an attestation, then that of the slot's certificate.
            """,
        examples: [
            Example("ykit piv keys export 9a public.pem"),
            Example("ykit piv keys export 9a --format ssh", "Print the line for authorized_keys."),
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var export: PublicKeyExport

    func run(in run: Run) async throws -> Outcome<ExportedPublicKey> {
        let output = try export.output(run)
        let service = try await run.openPIV()
        let key = try await service.publicKey(slot)
        return try export.write(
            key, of: slot, algorithm: PIVAlgorithm(key)?.description, comment: "PIV-\(slot)", to: output)
    }
}

/// Exports the attestation of a key.
struct PIVAttestKey: Verb {
    static let about = About(
        "Export the attestation that a key pair was generated on this security key.",
        discussion:
            """
            It is signed by the key in f9, whose certificate --chain appends. 'ykit piv attest' verifies it, and 'ykit \
            attest verify' does from the file.
            """,
        examples: [Example("ykit piv keys attest 9a attestation.pem")])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file to write the certificate to, - for standard output.", completion: .file)
    var file = "-"

    @Option("--format", help: "Format of the certificate: pem, der or ssh.") var format: CertificateFormat = .pem

    @Flag("--chain", help: "Append the certificate in f9 (PEM).") var chain = false

    @OptionGroup var replacing: OutputOptions

    func check() throws {
        if chain, format != .pem { throw UsageError("--chain writes PEM") }
    }

    func run(in run: Run) async throws -> Outcome<ExportedAttestation> {
        let output = try FileOutput(file, isText: format.isText, force: replacing.force, run)
        let service = try await run.openPIV()
        let attested = try await AttestedSlot(slot, service)
        try attested.check()
        let device = try await chain ? service.certificate(.attestation) : nil
        let bytes = try format.encode(attested.statement)
        return try output.put(
            bytes + Array((device?.pem ?? "").utf8),
            of: ExportedAttestation(slot: slot, format: format, bytes: bytes, device: device, output: file),
            "attestation of the key in \(slot) written to \(file)")
    }
}

/// An attestation that was exported.
struct ExportedAttestation: Report {
    let slot: PIVSlot
    let format: CertificateFormat
    let bytes: [UInt8]
    let device: X509Certificate?
    let output: String
    static let members: [Member<ExportedAttestation>] = [
        Member("slot") { $0.slot.description },
        Member("format") { $0.format.rawValue },
        Member("certificate", "in that format, der in base64url") { $0.format.text(of: $0.bytes) },
        Member("deviceCertificate", "with --chain: in f9, PEM") { $0.device?.pem },
        Member("output") { $0.output },
    ]
}

/// Moves a key to another slot.
struct PIVMoveKey: Verb {
    static let about = About(
        "Move a key to another slot (firmware 5.7 and later).",
        discussion: "Its certificate stays where it is. Requires the management key.",
        examples: [Example("ykit piv keys move 9a 82")])
    typealias Reported = (from: PIVSlot, to: PIVSlot)
    static let answer = Shape<Reported>(
        Member("from") { $0.from.description },
        Member("to") { $0.to.description })

    @Argument("from", help: "The source slot.") var from: PIVSlot

    @Argument("to", help: "The destination slot.") var to: PIVSlot

    @Flag(["--force", "-f"], help: "Replace a key in the destination slot without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    func check() throws {
        if from == to { throw UsageError("the destination must be another slot") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.openPIV()
        let replacing = try await run.overwriting(service, force: force)?.confirmKey(in: to) ?? force
        try await management.unlock(service, for: "move a key", run)
        try await service.moveKey(from: from, to: to, replacing: replacing)
        return Outcome((from: from, to: to), "moved the key from \(from) to \(to)")
    }
}

/// Deletes a key.
struct PIVDeleteKey: Verb {
    static let about = About(
        "Permanently delete a key (firmware 5.7 and later).",
        discussion: "Its certificate stays: ykit piv certificates delete. Requires the management key.",
        examples: [Example("ykit piv keys delete 9a")])
    static let answer = Shape(Item<PIVSlot>("slot") { $0.description })

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var management: PIVManagementOptions

    func run(in run: Run) async throws -> Outcome<PIVSlot> {
        let service = try await run.openPIV()
        try confirmation.ask("the key in \(slot) would be permanently lost: delete it?", in: run)
        try await management.unlock(service, for: "delete a key", run)
        try await service.deleteKey(slot)
        return Outcome(slot, "deleted the key in \(slot)")
    }
}
