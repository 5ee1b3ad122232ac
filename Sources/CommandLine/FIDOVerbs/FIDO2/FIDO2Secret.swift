// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Derives a secret for another program from a credential.
struct FIDO2Secret: Verb {
    static let about = About(
        "Derive a secret that only this key can derive (hmac-secret).",
        discussion: """
            A credential and a salt always give the same secret of 32 bytes, and a different one without user \
            verification. --format systemd creates a credential for a LUKS2 volume, the passphrase for a key slot, and \
            the token that systemd-cryptsetup reads. --token derives the passphrase of such a token again.
            """,
        examples: [
            Example(
                "ykit fido2 secret --format systemd --keyslot 1 --token-output token -o key",
                "Create a passphrase for a LUKS2 volume."),
            Example("ykit fido2 secret --token token --output key", "Derive the same passphrase again."),
        ])

    /// The output format of the secret.
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case raw, hex, base64, systemd
    }

    @Option("--rp", help: "The relying party of the credential; io.systemd.cryptsetup for --format systemd.")
    var rp: String?

    @Option(
        "--credential <bytes>",
        isBase64URL: true,
        help: "The credential, base64url; with --format systemd, a new one by default.")
    var credential: String?

    @Option("--salt <bytes>", isBase64URL: true, help: "The salt of 32 bytes, hexadecimal or base64url.")
    var salt: String?

    @Option(
        "--uv", among: VerificationChoice.ofSecrets,
        help: "User verification, by PIN or fingerprint: required or discouraged. Each gives a different secret.")
    var uv: VerificationChoice = .required

    @Option("--format", help: "Format of the secret: raw, hex, base64, or systemd with a token.")
    var format: Form = .base64

    @Option(["--output <file>", "-o"], help: "Where to write the secret.") var output = "-"

    @Option("--keyslot <n>", help: "The key slot of the LUKS2 volume that gets the passphrase.") var keyslot: Int?

    @Option("--token-output <file>", help: "The file to write the token to, with --format systemd.")
    var tokenOutput: String?

    @Option(
        "--token <file>",
        help:
            "Derive the passphrase of this token again; a file of 'cryptsetup token export', or - for standard input.",
        completion: .input)
    var token: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        if token != nil {
            guard credential == nil, salt == nil, rp == nil, format != .systemd else {
                throw UsageError("--token already names the relying party, credential and salt")
            }
        } else if format == .systemd {
            guard let keyslot, (0...31).contains(keyslot), tokenOutput != nil else {
                throw UsageError("--format systemd needs --keyslot 0 to 31 and --token-output FILE")
            }
        } else if rp == nil || credential == nil || salt == nil {
            throw UsageError("missing --rp, --credential and --salt, or --token FILE")
        }
        if format != .systemd, keyslot != nil || tokenOutput != nil {
            throw UsageError("--keyslot and --token-output require --format systemd")
        }
    }

    /// A secret, and what it was derived from.
    struct Derived: Report {
        let token: SystemdToken
        let output: String
        let tokenFile: String?
        let secret: String?
        static let members: [Member<Self>] = [
            Member("rpId") { $0.token.rpID }, Member("credentialId") { Base64.encodeURL($0.token.credential) },
            Member("salt") { Base64.encodeURL($0.token.salt) },
            Member("verified", "whether the user was verified") { $0.token.isVerified },
            Member("output", "the file, - for standard output") { $0.output },
            Member("token", "its file") { $0.tokenFile },
            Member("secret", "in the requested format, raw as base64; null if written to a file") { $0.secret },
        ]
    }

    func run(in run: Run) async throws -> Outcome<Derived> {
        let isText = format != .raw
        let place = try FileOutput(output, isText: isText, isSecret: true, force: replacing.force, run)
        let tokens = try token.map { try Self.tokens(in: $0, run) }
        let file = try tokenOutput.map { path throws(Explanation) in
            try FileOutput(file: path, force: replacing.force)
        }
        let given = try given(run)
        let what =
            tokens == nil ? "derive a secret for \(given.rpID.printable)" : "derive the passphrase of a LUKS2 volume"
        let service = try await run.openTouchedFIDO(pin, for: what)
        try await check(service)
        run.announce(to: what)
        let used: SystemdToken
        let secret: SharedSecret
        if let tokens {
            (used, secret) = try await find(tokens, service)
        } else {
            used =
                given.credential.isEmpty
                ? try await service.createCredential(for: given, random: run.environment.random) : given
            secret = try await service.secret(of: used)
        }
        try file?.prepare(Array((used.json(keyslot: keyslot ?? 0).text + "\n").utf8))
        try file?.commit()
        let bytes = written(secret, run)
        let text = output == "-" ? text(bytes) : nil
        var outcome = Outcome(
            Derived(token: used, output: output, tokenFile: tokenOutput, secret: text),
            "secret written to \(output.printable)")
        try place.put(bytes, isText: isText, &outcome.answer)
        return outcome
    }

    /// Returns the token described by the options; its credential is empty if a new one is to be created.
    private func given(_ run: Run) throws -> SystemdToken {
        let salt =
            try salt.map { text throws(Explanation) in try BytesArgument.hexOrBase64(text, "--salt", count: 32) }
            ?? run.environment.random.draw(32, secret: false)
        return SystemdToken(
            rpID: rp ?? SystemdToken.defaultRPID,
            credential: try credential.map { text throws(Explanation) in
                try BytesArgument.base64(text, "--credential")
            } ?? [],
            salt: salt, isVerified: uv == .required, needsTouch: true)
    }

    /// systemd 252 does not request user verification if the token says that it is not required.
    private func check(_ service: FIDOService) async throws {
        guard format == .systemd, uv == .discouraged else { return }
        if try await service.info().option(.alwaysUv) == true {
            throw Explanation(
                "not-supported", .notSupported, "this key always verifies the user, so the token must require it",
                hint: "--uv required")
        }
    }

    private static func tokens(in file: String, _ run: Run) throws -> [SystemdToken] {
        let found = try SystemdToken.all(parsing: try Files.read(file)) { fault in
            run.terminal.warn("token-skipped", "a token is skipped: \(fault.description(of: file.fileName).printable)")
        }
        if found.isEmpty {
            throw Explanation.malformed(
                "no token of type systemd-fido2 found", hint: "cryptsetup token export --token-id N DEVICE")
        }
        return found
    }

    /// Finds the token whose credential is on this key, and its secret.
    private func find(
        _ tokens: [SystemdToken], _ service: FIDOService
    ) async throws -> (SystemdToken, SharedSecret) {
        for token in tokens {
            do { return (token, try await service.secret(of: token)) } catch FIDOError.noCredentials { continue }
        }
        throw Explanation(
            "no-such-credential", .notFound, "none of the \(tokens.count) tokens is for a credential of this key",
            hint: "try the other key")
    }

    private func text(_ written: [UInt8]) -> String {
        format == .raw ? Base64.encode(written) : String(decoding: written, as: UTF8.self).trimmed
    }

    private func written(_ secret: SharedSecret, _ run: Run) -> [UInt8] {
        let end = output == "-" && run.terminal.isOutputTerminal ? "\n" : ""
        return secret.value.withBytes { bytes in
            switch format {
            case .raw: Array(bytes)
            // A line end would become part of a LUKS passphrase, so only people get one.
            case .hex: Array((Hex.encode(Array(bytes)) + end).utf8)
            case .base64, .systemd: Array((Base64.encode(Array(bytes)) + end).utf8)
            }
        }
    }
}
