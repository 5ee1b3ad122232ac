// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOATH
import YKTransport
import YKWire

enum AccountSecret: SecretKind {
    static let name = SecretName("secret", "secret", "YKIT_OATH_SECRET")
}

/// The source of a new account's secret.
struct AccountSecretOptions: ParsableArguments {
    static let title = "Secret Options"

    @OptionGroup var given: SecretOptions<AccountSecret>

    @Flag(["--generate", "-g"], help: "Generate a random secret.") var generate = false

    @Option("--uri-file <file>", help: "Write the account with the generated secret to this new file.")
    var uriFile: String?

    @Flag("--qr", help: "Show the account with the generated secret as a QR code on the terminal.") var qr =
        false

    init() {}

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate cannot be combined with a secret") }
        if uriFile != nil, !generate { throw UsageError("--uri-file needs --generate") }
        if qr, !generate { throw UsageError("--qr needs --generate: other secrets are not shown") }
    }

    /// Returns the decoded secret.
    func read(for algorithm: OATHAlgorithm, _ run: Run) throws -> Secret {
        if generate {
            var bytes = try run.environment.random.draw(algorithm.hash?.digestSize ?? 20, secret: true)
            defer { Secret.wipe(&bytes) }
            return Secret(bytes)
        }
        return try Self.decode(try given.source.read(run.terminal, asking: "secret of the account (base 32)"))
    }

    /// Returns the disclosure of an account whose secret was generated.
    func disclosure(_ account: NewOATHAccount, _ run: Run) throws -> Disclosure? {
        guard generate else { return nil }
        return try run.perform {
            try Disclosure(
                "enroll this with the service", SharedSecret(Secret(utf8: OtpauthURI.text(account))), in: uriFile,
                as: try qr ? QRDrawing(isPicture: false) : nil, orElse: "write it to a file with --uri-file",
                run.terminal)
        }
    }

    private static func decode(_ text: borrowing Secret) throws -> Secret {
        var bytes = text.copyBytes()
        defer { Secret.wipe(&bytes) }
        guard var secret = try? Base32.decode(String(decoding: bytes, as: UTF8.self)), !secret.isEmpty else {
            throw Explanation.usage(
                "the secret is not base 32", hint: "letters A to Z and digits 2 to 7, as the service prints it")
        }
        defer { Secret.wipe(&secret) }
        return Secret(secret)
    }
}
