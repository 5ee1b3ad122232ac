// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKCrypto
import YKFIDO
import YKHardware
import YKKeyAgent
import YKKeys
import YKPIV
import YKSSH
import YKTransport
import YKWire

/// Lists public keys.
struct SSHKeys: Verb {
    static let about = About(
        "Print the key's public keys, as lines for authorized_keys.",
        discussion: """
            The keys of the PIV slots 9a, 9c, 9e and \(PIVSlot.retiredWords). With --resident, also the credentials \
            for SSH that the key stores, which needs the PIN; with --resident-only, only those.
            """,
        examples: [Example("ykit ssh keys >> authorized_keys"), Example("ykit ssh keys --resident")])
    static let answer = Shape(Item<[SSHListedKey]>("keys"))

    @Flag("--resident", help: "Also print the credentials that the key stores.") var resident = false

    @Flag("--resident-only", help: "Print only the credentials that the key stores.") var residentOnly = false

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<[SSHListedKey]> {
        var lines: [String] = []
        var listed: [SSHListedKey] = []
        if !residentOnly {
            let service = try await run.openPIV()
            let keys = try await SSHSlotKey.all(of: service, serial: try await service.serial())
            await service.close()
            lines += keys.map { $0.key.line(comment: $0.comment) }
            listed += keys.map { SSHListedKey($0) }
        }
        if resident || residentOnly {
            let service = try await run.openCredentials(pin, for: "list its credentials for SSH")
            let found = try await SSHCredential.all(of: service)
            lines += found.map { $0.file.publicKey.line(comment: $0.file.comment.printable) }
            listed += found.map { SSHListedKey($0) }
        }
        if lines.isEmpty { run.terminal.say("no keys for SSH; create one with: ykit ssh generate") }
        return Outcome(listed, lines)
    }
}

/// Creates a credential for SSH.
struct SSHGenerate: Verb {
    static let about = About(
        "Create a FIDO credential for SSH, with its key files.",
        discussion: """
            FILE is for 'ssh -i', FILE.pub for authorized_keys. The key file holds no secret and is therefore not \
            encrypted (but see --passphrase); a credential that the key does not store is lost with it. A key in a PIV \
            slot is generated with 'ykit piv keys generate'.
            """,
        examples: [
            Example("ykit ssh generate --output id_ed25519_sk"),
            Example("ykit ssh generate --resident --verify-required --output id_work_sk"),
        ])
    static let answer = Shape(SSHKeyReport.members, [Item<String>("output", "the key file")], [Item<Bool>("resident")])

    /// The key type.
    enum Algorithm: String, CaseIterable, ExpressibleByArgument {
        case ed25519, ecdsa
    }

    @Option(["--algorithm", "-a"], help: "ed25519, or ecdsa for keys that lack it.") var algorithm: Algorithm = .ed25519

    @Option(["--output <file>", "-o"], help: "The key file (default: ~/.ssh/id_ed25519_sk or id_ecdsa_sk).")
    var output: String?

    @Option("--application", help: "What the credential is for: ssh: or ssh:NAME.") var application = "ssh:"

    @Option("--user", help: "The user, which distinguishes credentials of one application; up to 32 bytes.")
    var user: String?

    @Option(["--comment", "-c"], help: "The comment of the public key (default: the application).")
    var comment: String?

    @Flag("--resident", help: "Store the credential on the key, for 'ykit ssh download' and 'ssh-keygen -K'.")
    var resident = false

    @Flag("--verify-required", help: "Require the PIN or a fingerprint at each use.") var verifyRequired = false

    @Flag(
        "--no-touch-required",
        help: "Require no touch at each use; sshd accepts that only with the option no-touch-required.")
    var noTouchRequired = false

    @Option("--challenge <file>", help: "Read the challenge for the attestation from this file.") var challenge: String?

    @Option("--attestation <file>", help: "Write the key's attestation to this new file.") var attestation: String?

    @Flag("--passphrase", help: "Encrypt the key file with a passphrase; ykit prompts for it.")
    var passphrase = false

    @Flag(
        ["--force", "-f"],
        help: "Replace existing files, and a credential that the key stores for the same application and user.")
    var force = false

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        guard application.lowercased().hasPrefix("ssh:") else {
            throw UsageError("--application must begin with ssh:, as OpenSSH requires")
        }
        guard (user ?? "").utf8.count <= 32 else { throw UsageError("--user must have at most 32 bytes") }
        guard passphrase || !fileOptions.isGiven else {
            throw UsageError("a passphrase requires --passphrase")
        }
    }

    func run(in run: Run) async throws -> Outcome<(SSHKeyReport, String, Bool)> {
        let path = try output ?? Self.standardPath(algorithm, run)
        let phrase = try newPassphrase(path, run)
        let files = try SSHKeyFiles(path, force: force, orElse: Self.takenHint)
        let proof = try attestation.map { path throws(Explanation) in
            try FileOutput(file: path, isSecret: false, force: force)
        }
        let challenge = try challenge.map { try Files.read($0) } ?? run.environment.random.draw(32, secret: false)
        let request = request(challenge)
        let what = "create a credential for '\(application.printable)'"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if resident {
            let whose = "'\(application.printable)'" + (user.map { ", user '\($0.printable)'" } ?? "")
            try await CredentialReplacing(run: run, service: service, force: force).check(
                application, userID: request.user.id, whose: whose)
        }
        run.announce(what + (resident ? ", stored on the key" : ""))
        let made = try await service.register(request)
        let credential = try credential(made)
        let attested = attestation(made)
        try proof?.prepare(attested)
        let check = UInt32.random(in: .min ... .max)
        let text =
            if let phrase {
                try credential.text(
                    check: check, passphrase: phrase, salt: run.environment.random.draw(16, secret: false))
            } else { credential.text(check: check) }
        try files.write(text, credential)
        try proof?.commit()
        let key = SSHKeyReport(key: credential.publicKey, comment: credential.comment)
        var outcome = Outcome(
            (key, path, resident), "key file written to \(path.printable), public key to \(path.printable).pub")
        if proof != nil { outcome.answer.warnings += warnings(about: attested, credential.publicKey, challenge, run) }
        return outcome
    }

    /// Warnings about an attestation that proves nothing to others; whom its signer is trusted by is theirs to decide.
    private func warnings(
        about attestation: [UInt8], _ key: SSHPublicKey, _ challenge: [UInt8], _ run: Run
    ) -> [Warning] {
        var judge = AttestationJudge(at: run.now)
        judge.challenge = AttestationChallenge(challenge)
        judge.subject = AttestedSubject(key)
        var evidence = AttestationEvidence()
        do { try evidence.add(attestation) } catch { return [Self.warning(Explanation(error))] }
        return judge.verdicts(on: evidence).filter { $0.result != .notRooted }.compactMap(\.findings.first).map {
            Self.warning(Explanation($0))
        }
    }

    private static func warning(_ failure: Explanation) -> Warning { Warning(failure) { "the attestation: \($0)" } }

    /// What to do if the key file exists. A credential that its key does not store cannot be used without its file.
    private static let takenHint =
        "name another file with --output; --force replaces it, and loses the credential that it names unless the key "
        + "stores that"

    /// Asks for the passphrase before the key is used; `nil` if there is to be none.
    private func newPassphrase(_ path: String, _ run: Run) throws -> SharedSecret? {
        guard passphrase else { return nil }
        let phrase = try fileOptions.newPassword("passphrase for \(path.printable)", run.terminal)
        guard !phrase.isEmpty else { throw Explanation.usage("the passphrase is empty") }
        return SharedSecret(phrase)
    }

    private static func standardPath(_ algorithm: Algorithm, _ run: Run) throws -> String {
        guard let home = run.variable("HOME") else {
            throw Explanation.usage("no home folder found", hint: "name the file with --output FILE")
        }
        UserFolder.make("\(home)/.ssh")
        return "\(home)/.ssh/id_\(algorithm)_sk"
    }

    private func request(_ challenge: [UInt8]) -> RegistrationRequest {
        var id = Array((user ?? "").utf8)
        id += [UInt8](repeating: 0, count: 32 - id.count)
        // ssh-sk-helper (OpenSSH 9.2) uses this name for every user; -K and the agents identify credentials by
        // application and id.
        let account = FIDOUser(id: id, name: "openssh", displayName: "openssh")
        var request = RegistrationRequest(
            clientDataHash: HashAlgorithm.sha256.hash(challenge), relyingParty: RelyingParty(id: application),
            user: account)
        request.algorithms = [algorithm == .ed25519 ? .edDSA : .es256]
        request.isResident = resident
        request.userVerification = verifyRequired ? .required : .discouraged
        if resident || verifyRequired {
            request.extensions.protection = verifyRequired ? .required : .optionalWithList
            request.extensions.enforcesProtection = true
        }
        return request
    }

    private func credential(_ made: Registration) throws -> SecurityKeyFile {
        guard let credential = made.response.authenticatorData.credential,
            let key = SSHPublicKey(cose: credential.publicKey, application: application)
        else { throw Explanation.malformed("the key created a credential that is not \(algorithm)") }
        var flags: SecurityKeyFile.Flags = noTouchRequired ? [] : [.touchRequired]
        if verifyRequired { flags.insert(.verificationRequired) }
        if resident { flags.insert(.resident) }
        return SecurityKeyFile(
            publicKey: key, flags: flags, handle: credential.id, comment: comment ?? application)
    }

    private func attestation(_ made: Registration) -> [UInt8] {
        let statement = made.response.statement
        return SSHAttestation(
            certificate: statement["x5c"]?.array?.first?.bytes ?? [], signature: statement["sig"]?.bytes ?? [],
            authenticatorData: made.response.authenticatorData
        ).encoded
    }
}

/// A key file and its public half in FILE.pub: both are written, or neither is.
private struct SSHKeyFiles {
    private let key, line: FileOutput

    /// Opens both files.
    ///
    /// - Parameter hint: What to do if one exists.
    init(_ path: String, force: Bool, orElse hint: String) throws(Explanation) {
        for file in [path, path + ".pub"] where !force && Files.isTaken(file) && FileStatus(file)?.isRegular != false {
            var failure = Explanation.exists(file)
            failure.hint = hint
            throw failure
        }
        key = try FileOutput(file: path, force: force)
        line = try FileOutput(file: path + ".pub", isSecret: false, force: force)
    }

    /// Writes the text of a credential's key file, and its public half.
    func write(_ text: String, _ credential: SecurityKeyFile) throws(Explanation) {
        try key.prepare(Array(text.utf8))
        try line.prepare(Array((credential.publicKey.line(comment: credential.comment) + "\n").utf8))
        try key.commit()
        try line.commit()
    }
}

/// Writes key files for the credentials stored on the key.
struct SSHDownload: Verb {
    static let about = About(
        "Write the key files of credentials that the key stores. Needs the PIN.",
        discussion: "Like 'ssh-keygen -K', but only for the given ones.",
        examples: [Example("ykit ssh download --output ~/.ssh")])
    static let answer = Shape(Item<[SSHListedKey]>("keys"), Item<[String]>("files"))

    @Argument(
        "credential",
        isBase64URL: true, help: "The credential: its application, identifier or the beginning of it (default: all).")
    var credential: EntryQuery?

    @Option(["--output <folder>", "-o"], help: "The folder for the files.") var output = "."

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<([SSHListedKey], [String])> {
        let service = try await run.openCredentials(pin, for: "read its credentials for SSH")
        let all = try await SSHCredential.all(of: service)
        let names = SSHCredential.fileNames(of: all)
        let wanted = try credential.map { try run.entry($0, in: all) }?.remembered.credential.id
        let pairs = zip(all, names).filter { wanted == nil || $0.0.remembered.credential.id == wanted }
        let chosen = pairs.map(\.0)
        var lines = chosen.isEmpty ? ["the key stores no credentials for SSH"] : []
        var files: [String] = []
        var failure: Explanation?
        for (credential, name) in pairs {
            let path = "\(output)/\(name)"
            do throws(Explanation) {
                try SSHKeyFiles(
                    path, force: replacing.force, orElse: "another folder with --output, or replace it with --force"
                ).write(
                    credential.file.text(check: UInt32.random(in: .min ... .max)), credential.file)
                files.append(path)
                lines.append("\(path.printable)  \(credential.words)")
            } catch { failure = failure ?? error }
        }
        var outcome = Outcome((chosen.map { SSHListedKey($0) }, files), lines)
        outcome.answer.failure = failure
        return outcome
    }
}

/// Deletes an SSH credential from the key.
struct SSHDelete: Verb {
    static let about = About(
        "Delete a credential that the key stores. It cannot be recovered.",
        examples: [Example("ykit ssh delete ssh:")])
    static let answer = Shape(Item<SSHListedKey>("key"))

    @Argument(
        "credential", isBase64URL: true, help: "The credential: its application, identifier or the beginning of it.")
    var credential: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<SSHListedKey> {
        let service = try await run.openCredentials(pin, for: "delete a credential")
        let all = try await SSHCredential.all(of: service)
        let found = try run.entry(toChange: credential, in: all, .always(unless: confirmation)) {
            "the credential for \($0.words) (\($0.file.publicKey.fingerprint)) would be permanently lost: delete it?"
        }
        try await service.delete(found.remembered.credential.id)
        return Outcome(SSHListedKey(found), "deleted the credential for \(found.words)")
    }
}
