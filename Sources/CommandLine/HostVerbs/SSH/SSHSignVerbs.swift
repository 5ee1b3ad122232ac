// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
package import TerminalIO
import Verbs
import YKCrypto
import YKKeyAgent
import YKPIV
package import YKSSH
import YKUse
import YKWire

/// Signs a file as `ssh-keygen -Y sign` does.
struct SSHSign: Verb {
    static let about = About(
        "Sign a file for 'ssh-keygen -Y verify' and git.",
        discussion: """
            --slot names a PIV slot, --key a key file of 'ykit ssh generate'. The signature is written to FILE.sig, or \
            to standard output if the file comes from standard input.
            """,
        examples: [
            Example("ykit ssh sign --key id_ed25519_sk letter.txt"),
            Example("ykit ssh sign --slot 9a letter.txt --namespace git"),
        ])

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file = "-"

    @Option(["--slot", "-s"], help: "The PIV slot of the key.") var slot: PIVSlot?

    @Option(["--key <file>", "-k"], help: "The key file of the credential.") var key: String?

    @Option(["--namespace", "-n"], help: "The namespace of the signature, such as file or git.") var namespace = "file"

    @Option(["--output <file>", "-o"], help: "The file to write the signature to (default: FILE.sig).")
    var output: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        guard (slot == nil) != (key == nil) else { throw UsageError("missing --slot or --key, the key to sign with") }
        guard !namespace.isEmpty else { throw UsageError("--namespace must not be empty; give one, such as file") }
    }

    /// A signature, and where it was written.
    struct Signed: Report {
        let signature: SSHFileSignature
        let output: String
        static let members: [Member<Self>] =
            including { SSHKeyReport(key: $0.signature.publicKey) } + [
                Member("namespace") { $0.signature.namespace }, Member("signature") { $0.signature.text },
                Member("output", "the file, - for standard output") { $0.output },
            ]
    }

    func run(in run: Run) async throws -> Outcome<Signed> {
        let target = output ?? (file == "-" ? "-" : file + ".sig")
        let place = try FileOutput(target, isText: true, force: replacing.force, run)
        let digest = try Files.hash(file, .sha512).digest
        let data = SSHFileSignature.signedData(namespace: namespace, hash: .sha512, digest: digest)
        let (publicKey, signature) =
            if let slot { try await run.sign(data, with: slot, pin) } else {
                try await credential(data, in: run)
            }
        let signed = SSHFileSignature(
            publicKey: publicKey, namespace: namespace, hash: .sha512, signature: signature)
        try run.perform {
            guard signed.isValid(digest: digest) else { throw Explanation.malformed("the key's signature is invalid") }
        }
        var outcome = Outcome(
            Signed(signature: signed, output: target), "signature written to \(target.printable)")
        try place.put(Array(signed.text.utf8), &outcome.answer)
        return outcome
    }

    private func credential(_ data: [UInt8], in run: Run) async throws -> (SSHPublicKey, SSHSignature) {
        let file = try fileOptions.keyFile(key ?? "", run)
        let service = try await run.openTouchedFIDO(pin, for: "sign a file")
        if file.flags.contains(.touchRequired) { run.announce(to: "sign a file, for '\(namespace.printable)'") }
        return (file.publicKey, try await service.sign(data, with: file))
    }
}

/// Verifies a signature as `ssh-keygen -Y verify` does.
struct SSHVerify: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Check a signature of a file. Needs no key.",
        discussion: """
            --key is the file of the public key that must have signed; --allowed-signers is a file as described in \
            ssh-keygen(1), which must allow --identity to sign for the namespace. A line that cannot be read is \
            skipped, with a warning if it names the identity. The exit code is 8 if the signature is invalid.
            """,
        examples: [Example("ykit ssh verify --key id_ed25519_sk.pub letter.txt")])

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file = "-"

    @Option(["--signature <file>", "-s"], help: "The signature (default: FILE.sig).") var signature: String?

    @Option(["--key <file>", "-k"], help: "The public key that must have signed.") var key: String?

    @Option("--allowed-signers <file>", help: "Who may sign.") var allowedSigners: String?

    @Option("--identity", help: "The signer's identity, with --allowed-signers.") var identity: String?

    @Option(["--namespace", "-n"], help: "The namespace that the signature must have.") var namespace = "file"

    func check() throws {
        guard (key == nil) != (allowedSigners == nil) else {
            throw UsageError("missing --key or --allowed-signers")
        }
        guard (allowedSigners == nil) == (identity == nil) else {
            throw UsageError("--allowed-signers and --identity must be given together")
        }
        guard file != "-" || signature != nil else { throw UsageError("--signature names the signature") }
    }

    /// A signature that is accepted.
    struct Verified: Report {
        let signature: SSHFileSignature
        static let members: [Member<Self>] =
            including { SSHKeyReport(key: $0.signature.publicKey) } + [
                Member("certificate", "null if the signature has none") { $0.signature.certificate },
                Member("namespace") { $0.signature.namespace }, Member("valid") { _ in true },
            ]
    }

    func run(in run: Run) async throws -> Outcome<Verified> {
        let signed = try SSHFileSignature(parsing: try Files.read(signature ?? file + ".sig"))
        let digest = try Files.hash(file, signed.hash).digest
        if let problem = try problem(signed, run) { throw Self.refused(problem) }
        guard signed.isValid(digest: digest) else {
            throw Self.refused("it is not a signature of this file by \(signed.publicKey.fingerprint)")
        }
        let who = identity.map { "'\($0.printable)', " } ?? ""
        let how =
            signed.certificate.map { ", certificate '\($0.keyID.printable)' of \($0.authority.fingerprint)" } ?? ""
        return Outcome(
            Verified(signature: signed), "good signature by \(who)\(signed.publicKey.fingerprint)\(how)")
    }

    private func problem(_ signed: SSHFileSignature, _ run: Run) throws -> String? {
        guard signed.namespace == namespace else {
            return "it is for '\(signed.namespace.printable)', not for '\(namespace.printable)'"
        }
        if let key {
            let text = String(decoding: try Files.read(key), as: UTF8.self)
            let expected: SSHPublicKey
            do { expected = try SSHPublicKey.parse(line: text).key } catch { throw Concerning(.file(key), error) }
            return expected == signed.publicKey ? nil : "another key signed: \(signed.publicKey.fingerprint)"
        }
        let verdict = AllowedSigners(try Files.read(allowedSigners ?? "")).check(
            signed, identity: identity ?? "", now: run.now)
        for note in verdict.notes {
            run.terminal.warn("allowed-signers", "\((allowedSigners ?? "").printable), \(note.printable)")
        }
        return verdict.isAllowed
            ? nil : "\(signed.publicKey.fingerprint) is not allowed to sign for '\((identity ?? "").printable)'"
    }

    private static func refused(_ why: String) -> Explanation {
        Explanation("wrong-signature", .authentication, "the signature is not accepted: \(why)")
    }
}

extension Run {
    /// Signs data with the key in a PIV slot.
    func sign(
        _ data: [UInt8], with slot: PIVSlot, _ pin: PINOptions
    ) async throws -> (SSHPublicKey, SSHSignature) {
        let service = try await openPIV()
        let unlocking = piv(service, pin)
        let use = try await unlocking.prepare(slot, nil, .sign, for: "sign a file")
        let known = if let key = use.key { key } else { try await service.publicKey(slot) }
        guard let key = SSHPublicKey(known) else { throw PIVError.unfit(use.algorithm, for: .sign) }
        let bytes = try await use.touching(person) {
            try await service.sign(
                .message(data), slot, hash: key.hash ?? .sha512, algorithm: use.algorithm, key: use.key)
        }
        return (key, try SSHSignature(bytes, by: key, hash: .sha512))
    }
}

extension SSHCertificate: Report {
    package static let members: [Member<Self>] = [
        Member("keyId") { $0.keyID }, Member("serialNumber") { String($0.serial) },
        Member("principals") { $0.principals }, Member("authority", "its fingerprint") { $0.authority.fingerprint },
    ]
}

extension FilePasswordOptions {
    /// Reads a key file; asks for its passphrase if it has one.
    func keyFile(_ path: String, _ run: Run) throws -> SecurityKeyFile {
        let bytes = try Files.read(path)
        do { return try SecurityKeyFile(parsing: bytes) } catch {
            guard case .encrypted(let cipher) = error, SecurityKeyFile.decrypts(cipher) else { throw error }
        }
        let passphrase = SharedSecret(try password("passphrase of \(path.printable)", run.terminal))
        return try SecurityKeyFile(parsing: bytes, passphrase: passphrase)
    }
}
