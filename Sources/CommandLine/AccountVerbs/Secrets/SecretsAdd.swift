// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKOATH
import YKSecrets

enum EntryPassword: SecretKind {
    static let name = SecretName("password", "entry's password", "YKIT_SECRETS_PASSWORD", limit: SecretsName.limit)
    static let title = "Password Options"
}

enum EntryMetadata: SecretKind {
    static let name = SecretName("metadata", "entry's metadata", "YKIT_SECRETS_METADATA", limit: SecretsName.limit)
    static let title = "Metadata Options"
}

/// Adds an entry.
struct SecretsAdd: Verb {
    static let readsLines = true
    static let about = About(
        "Add an entry. Asks for its secret or its password.",
        discussion: """
            A totp or hotp entry generates codes. A reverse-hotp entry verifies those of another device, such as a \
            laptop that shows one when it starts; only someone who has the PIN can add it. An hmac entry named \
            HmacSlot1 or HmacSlot2 answers KeePassXC as a YubiKey's slot does. A password entry holds a login, a \
            password and metadata; the other types can have these too.

            The secret is base 32. Values are read from standard input in this order: secret, password, metadata, PIN.
            """,
        examples: [
            Example("ykit secrets add mail:alice", "Add an account; ykit prompts for its secret."),
            Example("ykit secrets add shop --type password --login alice --protected"),
        ])
    static let answer = Shape<NewSecretsEntry>(
        Member("name") { $0.name.text },
        Member("type", "totp, hotp, reverse-hotp, hmac, or password for none of these") {
            ($0.otp?.kind ?? .none).description
        },
        Member("touch") { $0.needsTouch }, Member("protected", "by the PIN") { $0.isProtected })

    @Argument("name", help: "Name of the entry, up to 127 bytes.") var name: String

    @Option(["-o", "--type"], help: "totp, hotp, reverse-hotp, hmac or password.") var type: TypeChoice = .totp

    @Option(["--algorithm", "-a"], help: "sha1 or sha256.") var algorithm: AlgorithmChoice = .sha1

    @Option(["--digits", "-d"], help: "Number of digits in a code: 6, 7 or 8.") var digits = 6

    @Option(["--counter", "-c"], help: "Initial counter of a counter-based entry.") var counter: UInt32 = 0

    @Flag(["--touch", "-t"], help: "Require a touch for each use.") var touch = false

    @Flag("--protected", help: "Encrypt the entry with the PIN, which each use then requires.") var protected = false

    @Option(["--login", "-l"], help: "User name.") var login: String?

    @OptionGroup var secret: AccountSecretOptions
    @OptionGroup var password: SecretOptions<EntryPassword>
    @OptionGroup var metadata: SecretOptions<EntryMetadata>
    @OptionGroup var pin: PINOptions

    /// The types of entries.
    enum TypeChoice: String, CaseIterable, ExpressibleByArgument {
        case totp, hotp
        case reverseHOTP = "reverse-hotp"
        case hmac, password

        var kind: SecretsKind {
            switch self {
            case .totp: .totp
            case .hotp: .hotp
            case .reverseHOTP: .reverseHOTP
            case .hmac: .hmac
            case .password: .none
            }
        }
    }

    /// The hashes.
    enum AlgorithmChoice: String, CaseIterable, ExpressibleByArgument {
        case sha1, sha256
    }

    func check() throws {
        if secret.generate, type == .hmac || type == .password {
            throw UsageError(
                "--generate creates a secret for codes; it cannot be combined with --type \(type.rawValue)")
        }
        if type == .password, secret.given.isGiven { throw UsageError("an entry of type password has no secret") }
        if type != .hotp, type != .reverseHOTP, counter != 0 {
            throw UsageError("--counter is for entries of type hotp and reverse-hotp")
        }
        if !(6...8).contains(digits) { throw UsageError("a code must have 6, 7 or 8 digits") }
    }

    func run(in run: Run) async throws -> Outcome<NewSecretsEntry> {
        let name = try SecretsName(name)
        let otp = type == .password ? nil : try otp(run)
        let entry = NewSecretsEntry(
            name, otp: otp, record: try record(run), needsTouch: touch, isProtected: protected)
        let service = try await run.openSecrets()
        try await service.check(entry)
        if try await service.entries().contains(where: { $0.name == name }) { throw SecretsError.entryExists(name) }
        let made = try otp.flatMap { try disclosure($0, run) }
        let secret = entry.needsPIN ? try await run.secretsPIN(pin, of: service, to: "add the entry") : nil
        do {
            if touch || secret != nil {
                try await run.touching("add '\(self.name.printable)'") { try await service.add(entry, pin: secret) }
            } else {
                try await service.add(entry)
            }
        } catch {
            if let made { try Disclosure.keep([made], after: error, run.terminal) }
            throw error
        }
        try made?.show()
        return Outcome(entry, "added '\(self.name.printable)'")
    }

    private func otp(_ run: Run) throws -> SecretsOTP {
        let bytes = SharedSecret(try secret.read(for: algorithm == .sha1 ? .sha1 : .sha256, run))
        return SecretsOTP(
            type.kind, secret: bytes, algorithm: algorithm == .sha1 ? .sha1 : .sha256, digits: digits, counter: counter)
    }

    private func record(_ run: Run) throws -> SecretsRecord {
        var record = SecretsRecord(login: login)
        if type == .password || password.source.isGiven(run.terminal) {
            record.password = SharedSecret(
                try password.source.readNew(run.terminal, asking: "password of '\(name.printable)'"))
        }
        record.metadata = try metadata.source.given(run.terminal)
        return record
    }

    /// The generated secret as the account of an authenticator or a server.
    private func disclosure(_ otp: SecretsOTP, _ run: Run) throws -> Disclosure? {
        let id = OATHAccountID(
            issuer: nil, name: name, period: .seconds(30), type: type == .totp ? .totp : .hotp)
        let account = NewOATHAccount(
            id: id, secret: otp.secret.value.copy(), algorithm: algorithm == .sha1 ? .sha1 : .sha256, digits: digits,
            counter: counter)
        return try secret.disclosure(account, run)
    }
}
