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

/// The management key, and the PIN that may protect it.
struct PIVManagementOptions: ParsableArguments {
    @Flag(
        "--no-mutual",
        help: "Do not require proof that the card knows the management key, for cards that cannot give it.")
    var noMutual = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    /// Authenticates with the management key.
    ///
    /// - Parameter replacing: Whether the verb sets a new one.
    @discardableResult
    func unlock(
        _ service: PIVService, for reason: String, replacing: Bool = false, _ run: Run
    ) async throws -> PIVUnlocking {
        if noMutual { await service.waiveProof() }
        let access = run.piv(service, pin, managementKey)
        access.replacesManagementKey = replacing
        try await access.manage(for: reason)
        return access
    }
}

/// The policies of a new key.
struct KeyPolicyOptions: ParsableArguments {
    @Option(
        "--pin-policy", help: "When the key requires the PIN: default, never, once, always, match-once or match-always."
    )
    var pinPolicy: PINPolicy = .default

    @Option(
        "--touch-policy",
        help: "When the key requires a touch: default, never, always or cached (once in 15 seconds).")
    var touchPolicy: TouchPolicy = .default

    var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }

    /// Explains that a key that was just stored has other policies than requested; `nil` if they match or the card does
    /// not report them.
    func problem(of slot: PIVSlot, _ service: PIVService) async -> Explanation? {
        guard pinPolicy != .default || touchPolicy != .default,
            let stored = try? await service.metadata(of: slot)?.policies
        else { return nil }
        var wrong: [String] = []
        if pinPolicy != .default, stored.pin != pinPolicy { wrong.append("PIN \(stored.pin)") }
        if touchPolicy != .default, stored.touch != touchPolicy { wrong.append("touch \(stored.touch)") }
        guard !wrong.isEmpty else { return nil }
        return Explanation(
            "not-applied", .failed,
            "the key is in \(slot), but the card set different policies: \(wrong.listed())",
            hint: "unless these are acceptable, delete it: ykit piv keys delete \(slot)")
    }
}

/// The destination and format of a public key.
struct PublicKeyExport: ParsableArguments {
    @Argument("file", help: "The file to write the public key to, - for standard output.", completion: .file)
    var file = "-"

    @Option("--format", help: "Format of the public key: pem, der, ssh or age.") var format: PublicKeyFormat =
        .pem

    @Option("--comment", help: "The comment at the end of an SSH line.") var comment: String?

    @OptionGroup var replacing: OutputOptions

    /// Opens the destination.
    func output(_ run: Run) throws(Explanation) -> FileOutput {
        try FileOutput(file, isText: format.isText, force: replacing.force, run)
    }

    /// Writes the public key of a slot.
    ///
    /// - Parameters:
    ///   - algorithm: The name of its algorithm, if it has one.
    ///   - usual: The comment unless the user chose one.
    func write(
        _ key: PublicKey, of slot: any CustomStringConvertible, algorithm: String?, comment defaultComment: String,
        to output: FileOutput
    ) throws(Explanation) -> Outcome<ExportedPublicKey> {
        let bytes = try format.encode(key, comment: comment ?? defaultComment)
        let written = WrittenPublicKey(format: format, bytes: bytes, output: file)
        return try output.put(
            written.bytes, of: ExportedPublicKey(slot: slot.description, algorithm: algorithm, key: written),
            "public key of \(slot) written to \(file)")
    }
}

/// A public key as it was written.
struct WrittenPublicKey: Report {
    let format: PublicKeyFormat
    let bytes: [UInt8]
    let output: String
    static let members: [Member<WrittenPublicKey>] = [
        Member("format") { $0.format.rawValue },
        Member("publicKey", "in that format, der in base64url") { $0.format.text(of: $0.bytes) },
        Member("output") { $0.output },
    ]
}

/// The public key of a slot.
struct ExportedPublicKey: Report {
    let slot: String
    let algorithm: String?
    let key: WrittenPublicKey
    static let members: [Member<ExportedPublicKey>] =
        [Member("slot") { $0.slot }, Member("algorithm") { $0.algorithm }] + including { $0.key }
}

/// The destination and format of a certificate.
struct CertificateExport: ParsableArguments {
    @Argument("file", help: "The file to write the certificate to, - for standard output.", completion: .file)
    var file = "-"

    @Option("--format", help: "Format of the certificate: pem, der or ssh.") var format: CertificateFormat =
        .pem

    @OptionGroup var replacing: OutputOptions

    /// Opens the destination.
    func output(_ run: Run) throws(Explanation) -> FileOutput {
        try FileOutput(file, isText: format.isText, force: replacing.force, run)
    }

    /// Writes the certificate of a slot.
    func write(
        _ certificate: X509Certificate, of slot: any CustomStringConvertible, to output: FileOutput
    ) throws(Explanation) -> Outcome<ExportedCertificate> {
        let bytes = try format.encode(certificate)
        return try output.put(
            bytes, of: ExportedCertificate(slot: slot.description, format: format, bytes: bytes, output: file),
            "certificate of \(slot) written to \(file)")
    }
}

/// The certificate of a slot.
struct ExportedCertificate: Report {
    let slot: String
    let format: CertificateFormat
    let bytes: [UInt8]
    let output: String
    static let members: [Member<ExportedCertificate>] = [
        Member("slot") { $0.slot },
        Member("format") { $0.format.rawValue },
        Member("certificate", "in that format, der in base64url") { $0.format.text(of: $0.bytes) },
        Member("output") { $0.output },
    ]
}

/// The certificates that an attestation may chain to.
struct TrustedCertificates: ParsableArguments {
    @Option("--root <file>", help: "Trusted certificates, PEM; may be repeated.") var root: [String] = []

    @Option("--intermediate <file>", help: "Intermediate certificates, PEM; may be repeated.")
    var intermediate: [String] = []

    /// Reads the named certificates: the trusted ones, and the intermediate ones.
    func certificates() throws -> (roots: [X509Certificate], intermediates: [X509Certificate]) {
        (try root.flatMap(KeyFile.certificates), try intermediate.flatMap(KeyFile.certificates))
    }
}
