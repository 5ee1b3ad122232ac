// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKHSMAuth
import YKHardware
import YKInteraction
import YKPIV
import YKWire

/// Changes the password of a credential.
struct HSMAuthChangePassword: Verb {
    static let readsLines = true
    static let about = About(
        "Change the password of a credential (firmware 5.8).",
        discussion: """
            With --admin, the management password is used instead of the old password. If both passwords are read from \
            standard input, the first line is the current one, the second the new one.
            """,
        examples: [Example("ykit hsmauth change-password backup")])
    static let answer = Shape(Item<String>("label"))

    @Argument("label", help: "Label of the credential.") var label: String

    @Flag("--admin", help: "Use the management password instead of the old one.") var admin = false

    @Flag(["--force", "-f"], help: "Do not ask before the last try.") var force = false

    @OptionGroup var password: CredentialPasswordOptions
    @OptionGroup var new: NewHSMAuthPasswordOptions
    @OptionGroup var management: ManagementPasswordOptions

    func run(in run: Run) async throws -> Outcome<String> {
        let name = try HSMAuthLabel(label)
        let service = try await run.openHSMAuth()
        let credential = try await service.credential(name)
        if admin {
            let management = try await run.managementPassword(management, of: service, for: "set a password")
            let new = try await run.newHSMAuthPassword(new.source, "new password of '\(label.printable)'")
            try await service.setPassword(of: name, to: new, managementKey: management)
        } else {
            let old = try await run.credentialPassword(password, of: credential, force: force)
            let new = try await run.newHSMAuthPassword(new.source, "new password of '\(label.printable)'")
            try await service.changePassword(of: name, from: old, to: new)
        }
        return Outcome(label, "password of '\(label.printable)' changed")
    }
}

/// Changes the management password.
struct HSMAuthChangeManagementPassword: Verb {
    static let readsLines = true
    static let about = About(
        "Change the management password.",
        discussion: """
            The factory default is sixteen zero bytes, the same as an empty password. If both are read from standard \
            input, the first line is the current one, the second the new one.
            """,
        examples: [Example("ykit hsmauth change-management-password")])
    static let answer = Shape(done: "changed")

    @OptionGroup var management: ManagementPasswordOptions
    @OptionGroup var new: NewHSMAuthPasswordOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openHSMAuth()
        let old = try await run.managementPassword(management, of: service, for: "change it")
        let new = try await run.newHSMAuthPassword(new.source, "new management password")
        try await service.changeManagementKey(from: old, to: new)
        return Outcome(done: "management password changed")
    }
}

/// Generates the host challenge.
struct HSMAuthChallenge: Verb {
    static let about = About(
        "Get the host's challenge for a session, in hexadecimal (firmware 5.6).",
        discussion: """
            For an aes128 credential these are 8 random bytes. A p256 credential returns an ephemeral public key, \
            whose private key is kept only until the application is selected again: 'ykit hsmauth calculate \
            --exchange' opens a session in one run.
            """,
        examples: [Example("ykit hsmauth challenge operator")])
    static let answer = Shape(
        Item<String>("label"), Item<[UInt8]>("challenge", "in hexadecimal") { Hex.encode($0) })

    @Argument("label", help: "Label of the credential.") var label: String

    @Flag(["--force", "-f"], help: "Do not ask before the last try.") var force = false

    @OptionGroup var password: CredentialPasswordOptions

    func run(in run: Run) async throws -> Outcome<(String, [UInt8])> {
        let name = try HSMAuthLabel(label)
        let service = try await run.openHSMAuth()
        let credential = try await service.credential(name)
        let challenge =
            credential.algorithm == .aes128
            ? try await service.challenge(name)
            : try await service.challenge(
                name, password: try await run.credentialPassword(password, of: credential, force: force))
        return Outcome((label, challenge), Hex.encode(challenge))
    }
}

/// Calculates session keys.
struct HSMAuthCalculate: Verb {
    static let about = About(
        "Calculate the session keys of a credential.",
        discussion: """
            For an aes128 credential --context is the host's challenge and the HSM's, 16 bytes in hexadecimal; with \
            --cryptogram the HSM's proof is checked before any key is returned.

            A p256 credential is used in one run: --exchange names a shell command that gets the ephemeral public key \
            in hexadecimal on its standard input, opens the session at the HSM, and prints the HSM's answer: its \
            ephemeral public key and its receipt, in hexadecimal. --hsm-key is the HSM's own public key, obtained \
            beforehand: the receipt is checked with it.

            Anyone who has the session keys can read and forge the session: they are written to a new file of three \
            lines, S-ENC, S-MAC and S-RMAC, or shown with --show-keys.
            """,
        examples: [Example("ykit hsmauth calculate operator --context \"$(cat context.hex)\" --output keys")])

    @Argument("label", help: "Label of the credential.") var label: String

    @Option("--context <hex>", help: "Host challenge and HSM challenge, 16 bytes.") var context: String?

    @Option("--cryptogram <hex>", help: "The HSM's cryptogram, 8 bytes.") var cryptogram: String?

    @Option("--exchange <command>", help: "The command that takes the challenge of a p256 credential to the HSM.")
    var exchange: String?

    @Option("--hsm-key <file>", help: "The HSM's public key, PEM or DER, for a p256 credential.") var hsmKey: String?

    @Option("--output <file>", help: "The file to write the session keys to.") var output: String?

    @Flag("--show-keys", help: "Print the session keys.") var showKeys = false

    @Flag(["--force", "-f"], help: "Do not ask before the last try.") var force = false

    @OptionGroup var password: CredentialPasswordOptions

    func check() throws {
        guard showKeys != (output != nil) else {
            throw UsageError("give either --output FILE or --show-keys")
        }
        guard (context != nil) != (exchange != nil) else {
            throw UsageError("give --context for an aes128 credential, or --exchange for a p256 one")
        }
        guard (exchange != nil) == (hsmKey != nil) else {
            throw UsageError("--exchange needs --hsm-key, the public key of the HSM")
        }
        guard cryptogram == nil || context != nil else {
            throw UsageError("--cryptogram requires --context")
        }
    }

    func run(in run: Run) async throws -> Outcome<HSMAuthSession> {
        let name = try HSMAuthLabel(label)
        let challenges = try Self.bytes(context, 16, "--context")
        let proof = try Self.bytes(cryptogram, 8, "--cryptogram")
        let hsm = try hsmKey.map { try Self.point($0) }
        let file = try output.map { path throws(Explanation) in try FileOutput(file: path, force: nil) }
        let service = try await run.openHSMAuth()
        let credential = try await service.credential(name)
        guard (credential.algorithm == .aes128) == (context != nil) else {
            throw Explanation.usage(
                "'\(label.printable)' is a \(credential.algorithm) credential",
                hint: credential.algorithm == .aes128 ? "give --context" : "give --exchange and --hsm-key")
        }
        let password = try await run.credentialPassword(password, of: credential, force: force)
        let wait = credential.needsTouch == false ? nil : run.person.expectTouch(.required)
        defer { wait?.end() }
        let keys: HSMSessionKeys
        if let challenges {
            keys = try await service.sessionKeys(
                name, hostChallenge: Array(challenges[..<8]), hsmChallenge: Array(challenges[8...]),
                cryptogram: proof, password: password)
        } else {
            let point = try await service.challenge(name, password: password)
            let answer = try exchanged(point, run)
            keys = try await service.sessionKeys(
                name, hostPoint: point, hsmPoint: Array(answer.prefix(65)), hsmKey: hsm ?? [],
                receipt: Array(answer.dropFirst(65)), password: password)
        }
        return try given(keys, file)
    }

    private func given(_ keys: HSMSessionKeys, _ file: FileOutput?) throws -> Outcome<HSMAuthSession> {
        let texts = [keys.encryption, keys.mac, keys.responseMAC].map {
            $0.value.withBytes { Hex.encode(Array($0)) }
        }
        guard let file else {
            return Outcome(
                HSMAuthSession(label: label, keys: texts, output: nil),
                zip(["S-ENC ", "S-MAC ", "S-RMAC"], texts).map { "\($0) \($1)" })
        }
        return try file.put(
            Array((texts.joined(separator: "\n") + "\n").utf8),
            of: HSMAuthSession(label: label, keys: nil, output: output),
            "session keys written to \(output ?? "-")")
    }

    /// Reads the HSM's answer to the ephemeral public key: the 65 bytes of its own key and the 16 of the receipt.
    private func exchanged(_ point: [UInt8], _ run: Run) throws -> [UInt8] {
        let result = try run.stage.programs.run(
            "/bin/sh", ["-c", exchange ?? ""], Array((Hex.encode(point) + "\n").utf8), [:])
        guard result.status == 0 else {
            throw Explanation("exchange", .failed, "the command of --exchange failed with status \(result.status)")
        }
        let digits = String(decoding: result.output.prefix(1024), as: UTF8.self).filter { !$0.isWhitespace }
        guard let answer = try? Hex.decode(digits), answer.count == 81 else {
            throw Explanation(
                "malformed", .malformed, "the command of --exchange did not print an HSM's answer",
                hint: "expected 162 hexadecimal digits: a public key of 65 bytes and a receipt of 16")
        }
        return answer
    }

    private static func bytes(_ text: String?, _ count: Int, _ option: String) throws(Explanation) -> [UInt8]? {
        guard let text else { return nil }
        guard let bytes = try? Hex.decode(text), bytes.count == count else {
            throw Explanation.usage("\(option) takes \(2 * count) hexadecimal digits")
        }
        return bytes
    }

    /// Reads the point of a P-256 public key from a file.
    private static func point(_ path: String) throws -> [UInt8] {
        guard case .ec(.p256, let point) = try KeyFile.publicKey(path) else {
            throw Explanation("not-supported", .notSupported, "the HSM's key in \(path) is not on P-256")
        }
        return point
    }
}

/// The keys of a session, shown or in a file.
struct HSMAuthSession: Report {
    let label: String
    /// S-ENC, S-MAC and S-RMAC.
    let keys: [String]?
    let output: String?
    static let members: [Member<HSMAuthSession>] = [
        Member("label") { $0.label },
        Member("sEnc", "in hexadecimal, with --show-keys") { $0.keys?[0] },
        Member("sMac", "in hexadecimal, with --show-keys") { $0.keys?[1] },
        Member("sRmac", "in hexadecimal, with --show-keys") { $0.keys?[2] },
        Member("output") { $0.output },
    ]
}

/// Deletes all data of the application.
struct HSMAuthReset: Verb {
    static let about = About(
        "Delete all credentials and reset the management password.",
        discussion: "The key requires no password for this. Other applications of the key are not affected.",
        examples: [Example("ykit hsmauth reset")])
    static let answer = Shape(Item<[String]>("deleted", "labels"))

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<[String]> {
        let service = try await run.openHSMAuth()
        let labels = try await service.credentials().map(\.label.text)
        let names = labels.isEmpty ? "there are none" : labels.map { "'\($0.printable)'" }.listed()
        try confirmation.ask(
            typing: "reset", "this permanently deletes all YubiHSM Auth credentials (\(names))", in: run)
        try await service.reset()
        var outcome = Outcome(labels, "all YubiHSM Auth credentials deleted")
        outcome.answer.warnings = [Warning("factory-default", "the management password is the factory default again")]
        return outcome
    }
}
