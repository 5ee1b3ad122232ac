// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKKeys
import YKWire

/// Commands for the credentials stored on the key.
struct FIDO2Credentials: ParsableCommand {
    static let about = About(
        "Manage the credentials (passkeys) that the key stores.",
        subcommands: [
            "list": FIDO2CredentialsList.self, "delete": FIDO2CredentialsDelete.self,
            "update": FIDO2CredentialsUpdate.self,
        ],
        examples: [Example("ykit fido2 credentials list")])
}

/// The persistent token that replaces the PIN for listing credentials.
struct TokenOptions: ParsableArguments {
    static let title = "Token Options"

    @Option(
        "--token <file>", help: "Use the persistent token in this file instead of the PIN; info --save-token stores it."
    )
    var token: String?

    /// Makes a service use the token in the file.
    ///
    /// - Returns: The token; `nil` if no file is named.
    func use(with service: FIDOService, _ run: Run) async throws -> FIDOToken? {
        guard let path = token else { return nil }
        let stored = try TokenFile.read(path, run)
        guard try await service.accepts(stored) else {
            throw Explanation(
                "token", .authentication, "the key does not accept the token in \(path.printable)",
                hint: """
                    it belongs to another key, or the PIN was changed; ykit fido2 info --save-token FILE requests a \
                    new one
                    """)
        }
        await service.use(stored)
        return stored
    }
}

/// The file of a persistent token: one line with the number of its PIN/UV auth protocol and its bytes in hexadecimal.
enum TokenFile {
    private static let mark = "ykit-fido2-token"

    static func bytes(of token: FIDOToken) -> [UInt8] {
        token.secret.value.withBytes { Array("\(mark) \(token.version.rawValue) \(Hex.encode(Array($0)))\n".utf8) }
    }

    static func read(_ path: String, _ run: Run) throws(Explanation) -> FIDOToken {
        if Files.isOpenToOthers(path) {
            run.terminal.warn("file-mode", "other users can read \(path.printable), which holds a token of a key")
        }
        var bytes = try Files.read(path)
        defer { Secret.wipe(&bytes) }
        let words = String(decoding: bytes.prefix(256), as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, words[0] == mark, let version = UInt64(words[1]).flatMap(PINProtocol.init(rawValue:)),
            let secret = try? Hex.decode(words[2]),
            let token = FIDOToken(
                SharedSecret(Secret(secret)), version: version, permissions: .persistentCredentialManagementReadOnly)
        else { throw Explanation.malformed("\(path.printable) is not a token stored by ykit") }
        return token
    }
}

/// Lists the credentials stored on the key.
struct FIDO2CredentialsList: Verb {
    static let about = About(
        "List the credentials that the key stores. Requires the PIN, or a token.",
        discussion:
            "Lists relying party, account and identifier. Credentials that the key does not store cannot be listed.",
        examples: [
            Example("ykit fido2 credentials list"), Example("ykit fido2 credentials list --rp example.com --long"),
        ])
    static let answer = Shape(
        [Item<[DiscoverableCredential]>("credentials")],
        [
            Item<CredentialStorage?>("existing") { $0?.existing },
            Item("remaining", "how many more fit on the key") { $0?.remaining },
        ])

    @Flag(["--long", "-l"], help: "Also show algorithm and protection.") var long = false

    @Option("--rp <id>", help: "List only those of this relying party.") var rp: String?

    @OptionGroup var token: TokenOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<([DiscoverableCredential], CredentialStorage?)> {
        let service = try await run.openCredentials(pin, for: "list its credentials")
        _ = try await token.use(with: service, run)
        let storage = try await service.credentialStorageIfTold()
        let (all, problems) = storage?.existing == 0 ? ([], []) : try await service.listedCredentials(rpID: rp)
        var outcome = Outcome(
            (all, storage), all.isEmpty ? ["no credentials"] : Table.lines(all.map { long ? $0.longRow : $0.row }))
        if let (party, problem) = problems.first {
            var explanation = Explanation(problem)
            explanation.message =
                "the key cannot report all credentials of \(party.id.printable): \(explanation.message)"
            outcome.answer.failure = explanation
        }
        return outcome
    }
}

/// Changes the names of a credential's account.
struct FIDO2CredentialsUpdate: Verb {
    static let about = About(
        "Change the names of a credential's account on the key.",
        examples: [Example("ykit fido2 credentials update alice@example.com --display-name \"Alice Smith\"")])
    static let answer = Shape(Item<DiscoverableCredential>("remembered"))

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: EntryQuery

    @Option("--user", help: "The account's new name.") var user: String?

    @Option("--display-name", help: "The account's new display name.") var displayName: String?

    @OptionGroup var pin: PINOptions

    func check() throws {
        if user == nil, displayName == nil { throw UsageError("missing --user or --display-name") }
    }

    func run(in run: Run) async throws -> Outcome<DiscoverableCredential> {
        let service = try await run.openCredentials(pin, for: "change a credential")
        guard try await service.info().option(.credMgmt) == true else {
            throw Explanation(
                "not-supported", .notSupported, "this key cannot change the names of its credentials",
                hint: "keys of CTAP 2.1 and later can")
        }
        let all = try await service.discoverableCredentials()
        let found = try run.entry(toChange: credential, in: all, .forPart) {
            "change the names of \($0.words)?"
        }
        var updated = found
        updated.credential.user.name = user ?? found.credential.user.name
        updated.credential.user.displayName = displayName ?? found.credential.user.displayName
        try await service.update(found.credential.id, user: updated.credential.user)
        return Outcome(updated, "changed the names of \(found.words)")
    }
}

/// Deletes a credential from the key.
struct FIDO2CredentialsDelete: Verb {
    static let about = About(
        "Delete a credential. It cannot be recovered.",
        discussion:
            "Its large blob is not deleted; 'ykit fido2 large-blob prune' removes blobs that belong to no credential.",
        examples: [Example("ykit fido2 credentials delete alice@example.com")])
    static let answer = Shape(Item<DiscoverableCredential>("remembered"))

    @Argument("credential", isBase64URL: true, help: DiscoverableCredential.help) var credential: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<DiscoverableCredential> {
        let service = try await run.openCredentials(pin, for: "delete a credential")
        let all = try await service.discoverableCredentials()
        let found = try run.entry(toChange: credential, in: all, .always(unless: confirmation)) {
            "the credential of \($0.words) would be permanently lost: delete it?"
        }
        try await service.delete(found.credential.id)
        return Outcome(found, "deleted the credential of \(found.words)")
    }
}
