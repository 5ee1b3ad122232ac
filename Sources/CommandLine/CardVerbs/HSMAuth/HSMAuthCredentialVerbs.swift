// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
import YKCrypto
package import YKHSMAuth
import YKPIV
import YKTransport
import YKWire

/// Shows the state of the application.
struct HSMAuthInfo: Verb {
    static let about = About(
        "Show version, number of credentials, and tries left for the management password.",
        examples: [Example("ykit hsmauth info")])

    func run(in run: Run) async throws -> Outcome<HSMAuthStatus> {
        let service = try await run.openHSMAuth()
        let status = HSMAuthStatus(
            version: service.version.description, retries: try await service.managementKeyRetries(),
            credentials: try await service.credentials().count)
        return Outcome(status, status.details)
    }
}

/// The state of the application.
struct HSMAuthStatus: Report {
    let version: String
    let retries: Int
    let credentials: Int
    static let members: [Member<HSMAuthStatus>] = [
        Member("version", title: "version") { $0.version },
        Member("managementPasswordRetries", title: "management password", words: { Tries.left($0) }) { $0.retries },
        Member("managementRetries", "the same") { $0.retries },
        Member("credentialCount", title: "credentials") { $0.credentials },
    ]
}

/// Lists credentials.
struct HSMAuthList: Verb {
    static let about = About(
        "List credentials: label, algorithm, touch, tries left.",
        examples: [Example("ykit hsmauth list")])
    static let answer = Shape(Item<[HSMAuthCredential]>("credentials"))

    func run(in run: Run) async throws -> Outcome<[HSMAuthCredential]> {
        let service = try await run.openHSMAuth()
        let list = try await service.credentials().sorted {
            $0.label.text.lowercased() < $1.label.text.lowercased()
        }
        if list.isEmpty { run.terminal.note("no credentials yet; add one with: ykit hsmauth add LABEL --derive") }
        let lines = Table.lines(
            list.map {
                [
                    $0.label.text.printable, $0.algorithm.description, $0.needsTouch == true ? "touch" : "",
                    Tries.left($0.retries),
                ]
            })
        return Outcome(list, lines)
    }
}

extension HSMAuthCredential: Report {
    package static let members: [Member<HSMAuthCredential>] = [
        Member("label") { $0.label.text },
        Member("rawLabel", "in base64url") { Base64.encodeURL($0.label.bytes) },
        Member("algorithm") { $0.algorithm.description },
        Member("touch") { $0.needsTouch },
        Member("retries") { $0.retries },
    ]
}

/// Stores a credential.
struct HSMAuthAdd: Verb {
    static let readsLines = true
    static let about = About(
        "Store a credential.",
        discussion: """
            The keys of an aes128 credential are derived from a password (--derive, the same as on other keys and in \
            YubiHSM tools), read from a file of 64 hexadecimal digits, K-ENC then K-MAC (--import), or generated at \
            random and written to a new file (--generate --key-file). A p256 key is generated on the key and never \
            leaves it (--generate), derived, or read from a PEM file. If several passwords are read from standard \
            input, the lines are, in order: derivation password, management password, password of the credential.
            """,
        examples: [
            Example("ykit hsmauth add spare --generate --algorithm ecc-p256"),
            Example("ykit hsmauth add signing --derive --touch", "Derive the keys from a password."),
        ])
    typealias Reported = (label: String, algorithm: HSMAuthAlgorithm, needsTouch: Bool, publicKey: PublicKey?)
    static let answer = Shape<Reported>(
        Member("label") { $0.label },
        Member("algorithm") { $0.algorithm.description },
        Member("touch") { $0.needsTouch },
        Member("publicKey", "PEM, of a p256 credential") { $0.publicKey?.pem })

    @Argument("label", help: "Label of the credential, up to 64 bytes.") var label: String

    @Option(["--algorithm", "-a"], help: "aes128 or ecc-p256.") var algorithm: HSMAuthAlgorithmChoice = .aes128

    @Flag("--derive", help: "Derive the keys from a password.") var derive = false

    @Flag("--generate", help: "Generate the keys.") var generate = false

    @Option("--import <file>", help: "Read the keys from this file.") var keys: String?

    @Option("--key-file <file>", help: "Write generated aes128 keys to this file.") var keyFile: String?

    @OptionGroup var replacing: OutputOptions

    @Flag(["--touch", "-t"], help: "Require a touch for every session.") var touch = false

    @OptionGroup var derivation: SecretOptions<DerivationPassword>

    @OptionGroup var file: FilePasswordOptions
    @OptionGroup var password: CredentialPasswordOptions
    @OptionGroup var management: ManagementPasswordOptions

    func check() throws {
        guard [derive, generate, keys != nil].filter({ $0 }).count == 1 else {
            throw UsageError("give one of --derive, --generate and --import")
        }
        if (keyFile != nil) != (generate && algorithm == .aes128) {
            throw UsageError(
                "--key-file is required with --generate for an aes128 credential, and cannot be used otherwise")
        }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let label = try HSMAuthLabel(label)
        let file = try run.perform { try keyFile.map { path in try FileOutput(file: path, force: replacing.force) } }
        let key = try key(run)
        let service = try await run.openHSMAuth()
        if try await service.credentials().contains(where: { $0.label == label }) {
            throw HSMAuthError.credentialExists(label)
        }
        let management = try await run.managementPassword(management, of: service, for: "store a credential")
        let password = try await run.newHSMAuthPassword(
            password.source, "password of the new credential '\(self.label.printable)'")
        if case .symmetric(let encryption, let mac) = key {
            let digits = [encryption, mac].map { $0.value.withBytes { Hex.encode(Array($0)) } }.joined()
            try file?.prepare(Array((digits + "\n").utf8))
        }
        do {
            try await service.add(label, key, password: password, needsTouch: touch, managementKey: management)
        } catch {
            // Unless the key refused it explicitly, the credential may have been stored, so its keys stay in the file.
            if case HSMAuthError.card = error, let keyFile, let file {
                try file.commit()
                run.terminal.say("the keys are in \(keyFile); 'ykit hsmauth list' shows whether they are stored")
            }
            throw error
        }
        try file?.commit()
        var report: Reported = (label: self.label, algorithm: key.algorithm, needsTouch: touch, publicKey: nil)
        var lines = ["stored '\(self.label.printable)', \(key.algorithm)"]
        var failure: Explanation?
        if key.algorithm == .p256 {
            do {
                report.publicKey = try await run.perform { try await service.publicKey(of: label) }
                lines.append("public key for the HSM: ykit hsmauth export-public-key LABEL")
            } catch { failure = Explanation(error) }
        }
        var outcome = Outcome(report, lines)
        outcome.answer.failure = failure
        return outcome
    }

    private func key(_ run: Run) throws -> HSMAuthKey {
        if let keys { return try imported(keys, run) }
        if generate {
            guard algorithm == .aes128 else { return .generatedP256 }
            var bytes = try run.environment.random.draw(32, secret: true)
            defer { Secret.wipe(&bytes) }
            return try .symmetric(Secret(bytes))
        }
        return try derived(try derivation.source.readNew(run.terminal, asking: "password to derive the keys from"))
    }

    private func derived(_ password: borrowing Secret) throws -> HSMAuthKey {
        try algorithm == .aes128 ? .derived(from: password) : .derivedP256(from: password)
    }

    private func imported(_ path: String, _ run: Run) throws -> HSMAuthKey {
        guard algorithm == .aes128 else {
            guard let key = try file.read(path, run).privateKey, case .ec(.p256, _) = key.publicKey else {
                throw Explanation("no-private-key", .notFound, "\(path.printable) holds no P-256 private key")
            }
            return .p256(try key.scalar())
        }
        var text = try Files.read(path)
        defer { Secret.wipe(&text) }
        var digits = text.filter { ![0x20, 0x0A, 0x0D, UInt8(ascii: ":")].contains($0) }
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)), bytes.count == 32 else {
            throw Explanation.malformed("\(path.printable) does not hold 64 hexadecimal digits, K-ENC then K-MAC")
        }
        defer { Secret.wipe(&bytes) }
        return try .symmetric(Secret(bytes))
    }
}

/// The credential types by name.
enum HSMAuthAlgorithmChoice: String, CaseIterable, ExpressibleByArgument {
    case aes128
    case p256 = "ecc-p256"

    /// Parses a name; P-256 also has a short one.
    init?(argument: String) { self.init(rawValue: argument == "p256" ? "ecc-p256" : argument) }
}

/// Deletes a credential.
struct HSMAuthDelete: Verb {
    static let about = About(
        "Delete a credential. Its keys cannot be restored.",
        examples: [Example("ykit hsmauth delete backup")])
    static let answer = Shape(Item<String>("label"))

    @Argument("label", help: "Label of the credential.") var label: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var management: ManagementPasswordOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let name = try HSMAuthLabel(label)
        let service = try await run.openHSMAuth()
        _ = try await service.credential(name)
        try confirmation.ask("the keys of '\(label.printable)' would be permanently lost: delete it?", in: run)
        let management = try await run.managementPassword(management, of: service, for: "delete a credential")
        try await service.delete(name, managementKey: management)
        return Outcome(label, "deleted '\(label.printable)'")
    }
}

/// Exports the public key of a credential.
struct HSMAuthExportPublicKey: Verb {
    static let about = About(
        "Write the public key of a p256 credential, for the HSM.",
        examples: [Example("ykit hsmauth export-public-key backup backup.pem")])
    static let answer = Shape(
        Item<HSMAuthLabel>("label") { $0.text }, Item<PublicKey>("publicKey", "PEM") { $0.pem }, Item<String>("output"))

    @Argument("label", help: "Label of the credential.") var label: String

    @Argument("file", help: "The file to write the public key to, - for standard output.", completion: .file)
    var file = "-"

    @Option("--format", help: "Format of the public key: pem, der or hex (65 bytes, 04 first).")
    var format: HSMAuthPublicKeyFormat = .pem

    @OptionGroup var replacing: OutputOptions

    func run(in run: Run) async throws -> Outcome<(HSMAuthLabel, PublicKey, String)> {
        let output = try FileOutput(file, isText: format != .der, force: replacing.force, run)
        let service = try await run.openHSMAuth()
        let name = try HSMAuthLabel(label)
        let key = try await service.publicKey(of: name)
        var outcome = Outcome((name, key, file), "public key of '\(label.printable)' written to \(file)")
        switch format {
        case .pem: try output.put(Array(key.pem.utf8), &outcome.answer)
        case .der: try output.put(key.subjectPublicKeyInfo, &outcome.answer)
        case .hex:
            guard case .ec(_, let point) = key else { break }
            try output.put(Array((Hex.encode(point) + "\n").utf8), &outcome.answer)
        }
        return outcome
    }
}

/// The format of a credential's public key.
enum HSMAuthPublicKeyFormat: String, CaseIterable, ExpressibleByArgument {
    case pem, der, hex
}
