// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKDesktop
import YKFIDO
import YKHTTP
import YKKeys
import YKPIV
import YKProtocols
import YKStore
import YKTransport
import YKWire

/// The source of an enrollment link.
enum LinkSource {
    /// Reads a link from the command line, standard input, an image with a QR code, or the camera.
    static func read(_ link: String?, _ picture: String?, _ terminal: Terminal) throws -> String {
        if let link, link != "-" { return link }
        if link == nil, picture == "camera" { return try seen(terminal) }
        var bytes = try Files.read(link ?? picture ?? "-")
        defer { Secret.wipe(&bytes) }
        if QRReader.isImage(bytes) {
            let texts = try terminal.qrReader.texts(in: bytes, (picture ?? "standard input").printable)
            guard texts.count == 1, let text = texts.first else {
                throw Explanation(
                    "several-qr-codes", .severalDevices, "the picture has \(texts.count) QR codes",
                    hint: "crop it to the one you want")
            }
            return text
        }
        guard let text = TextFile.decode(bytes) else {
            throw Explanation.malformed("this is neither a text nor a picture (PNG, JPEG)")
        }
        return text.trimmed
    }

    /// Returns the text of the first QR code that is held in front of the camera within a minute.
    private static func seen(_ terminal: Terminal) throws -> String {
        terminal.say("hold the QR code in front of the camera, ^C to cancel")
        do { return try terminal.qrReader.seen(showsPicture: terminal.stage.desktop.isGraphical) } catch .noCode {
            throw Explanation(
                "no-qr-code", .notFound, "the camera showed no QR code",
                hint:
                    "check that a camera is attached and that you may use it (group video), or use a picture: --qr FILE"
            )
        }
    }
}

/// A link, or the picture with its QR code.
struct LinkOptions: ParsableArguments {
    @Argument("link", help: "The link, or - for standard input.", completion: .inputText) var link: String?

    @Option(
        "--qr <file|camera>",
        help: "Read the link from this picture, - for standard input, or the camera.",
        completion: .input)
    var qr: String?

    /// Reads the link.
    func read(_ terminal: Terminal) throws -> String { try LinkSource.read(link, qr, terminal) }
}

/// The location of an account's private key.
struct KeyPlaceReport: Report {
    let place: ApprovalKeyPlace

    static let members: [Member<KeyPlaceReport>] = [
        Member("kind", "piv or software") { $0.piv == nil ? "software" : "piv" },
        Member(ifKnown: "slot") { $0.piv?.slot.description },
        Member(ifKnown: "serial") { $0.piv.map { $0.keySerial.map { String($0) } } },
        Member(ifKnown: "pinPolicy") { $0.piv?.policies.pin.description },
        Member(ifKnown: "touchPolicy") { $0.piv?.policies.touch.description },
        Member(ifKnown: "attestation", "the certificate, base64url") {
            $0.piv.map { $0.attestation.map { Base64.encodeURL($0) } }
        },
    ]

    private var piv: PIVKeyPlace? { if case .piv(let place) = place { place } else { nil } }
}

/// An account that was enrolled.
struct EnrolledAccount: Report {
    let account: ApprovalAccount
    let key: ApprovalKeyPlace?
    var entry: String?
    var push: PushDetails?

    /// Properties that only push accounts have.
    struct PushDetails: Sendable {
        let account: PushAccount
        let isProven: Bool
        let isPollOnly: Bool

        var isAttested: Bool { if case .piv(let place) = account.place { place.attestation != nil } else { false } }
        var publicKey: String { account.publicKey.pem }
    }

    static let members: [Member<EnrolledAccount>] = [
        Member("accountId") { $0.account.id },
        Member("name") { $0.account.name },
        Member("server") { $0.account.server },
        Member("issuer", "of a push account") { $0.push?.account.account.issuer },
        Member("serial") { $0.account.serial },
        Member("key", "where the private key is") { $0.key.map(KeyPlaceReport.init) },
        Member("attested", "of a push account") { $0.push?.isAttested },
        Member("proven", "whether the server accepted the first poll") { $0.push?.isProven },
        Member("pollOnly", "of a push account") { $0.push?.isPollOnly },
        Member("publicKey", "PEM") { $0.push?.publicKey },
        Member("enter", "what to enter at the server in a two-step enrollment") { $0.entry },
        Member("require", "uv or null") { $0.push?.account.proof.map { _ in RequiredProof.uv.rawValue } },
    ]
}

/// Enrolls an account.
struct ApproveEnroll: AccountKeyVerb {
    static let about = About(
        "Enroll an account: its private key is generated on the security key.",
        discussion: """
            LINK is what the server shows as a QR code (otpauth://pipush/…, pia://pipush/…); --qr reads the picture. With \
            --server and --user the server is asked for the link, after signing in with the password or a registration \
            code.

            --touch sets when a signature requires a touch. cached: one touch covers all signatures within 15 seconds, \
            such as a list and the answer to it. always: one touch for each signature; requests cannot be watched for \
            in the background. never: the key signs once its PIN was entered, so any program that reaches it then can \
            approve. With --require uv ykit asks for the PIN or fingerprint and a touch of the FIDO2 application \
            before each approval; this does not restrict other programs.
            """,
        examples: [
            Example("ykit approve enroll --qr enrollment.png --name work"),
            Example("ykit approve enroll --server https://mfa.example.com --user alice"),
        ])

    @OptionGroup var source: LinkOptions

    @Option("--server <url>", help: "Ask this server for the link.") var server: String?

    @OptionGroup var person: ApproveUserOptions
    @OptionGroup var trust: ServerTrustOptions

    @Option("--name", help: "A name for the account.") var name: String?

    @Option("--slot", help: "The PIV slot: auto selects the first free one of \(PIVSlot.retiredWords).")
    var slot: String = "auto"

    @Option(
        ["--algorithm", "-a"], among: [.rsa2048, .rsa3072, .rsa4096],
        help: "Key algorithm: rsa2048, rsa3072 or rsa4096.")
    var algorithm: PIVAlgorithm = .rsa2048

    @Option("--touch", among: TouchPolicy.plain, help: "When the key requires a touch: never, always or cached.")
    var touch: TouchPolicy?

    @Option("--pin-policy", among: PINPolicy.plain, help: "When the key requires the PIN: never, once or always.")
    var pinPolicy: PINPolicy = .once

    @Flag("--unattended", help: "Allow a key that needs neither PIN nor touch.") var unattended = false

    @Option(
        "--require <proof>",
        help: "The proof required before each approval: uv, user verification by FIDO2 on the same key.")
    var require: RequiredProof?

    @Option("--listen <address>", help: "Have the server's gateway deliver requests to this address.")
    var listen: String?

    @Flag("--software", help: "Keep the private key in the sealed store instead of a security key.")
    var software = false

    @OptionGroup var agreement: Agreement
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var key: ApproveKeyOptions
    @OptionGroup var path: ApproveStoreOptions

    func check() throws {
        let sources = [source.link != nil, source.qr != nil, server != nil].count { $0 }
        if sources != 1 { throw UsageError("give a link, --qr with a picture, or --server with --user") }
        if (server == nil) != (person.user == nil) { throw UsageError("--server and --user must be given together") }
        _ = try PIVSlot.forAccount(slot)
        if pinPolicy == .never, touch == .never, !unattended {
            throw UsageError(
                "any program can approve with a key that requires neither PIN nor touch; add --unattended to allow it")
        }
        if require != nil, software { throw UsageError("--require uv needs a security key, not --software") }
    }

    func run(in run: Run) async throws -> Outcome<EnrolledAccount> {
        let given = server == nil ? try source.read(run.terminal) : nil
        if let given, !PushLink.matches(given) {
            guard require == nil else { throw Explanation.usage("--require is for push accounts") }
            return try await open(given, run)
        }
        let book = try path.accounts(run)
        let trust = try trust.trust(forAccountIn: run)
        let approver = try run.approver()
        // The server makes a token for a link that it is asked for, so everything else that may fail precedes that.
        if self.server != nil { try checkSources(in: run) }
        let access =
            self.server == nil ? nil : try await run.perform { try await EnrolmentAccess.open(self, book, run) }
        let link = try await pushLink(given, approver, trust, run)
        let server = PushAccount.server(of: link.url)
        guard !book.accounts.contains(where: { $0.id == "\(link.serial)@\(server)" }) else {
            throw Explanation(
                "exists", .policy, "the store already has account \(link.serial) of \(server)",
                hint: "ykit approve accounts")
        }
        guard book.accounts.count < ApprovalStore.limit else {
            throw Explanation("too-many", .policy, "the store is full: it holds \(ApprovalStore.limit) accounts")
        }
        let wanted = name ?? (link.label == link.serial || link.label.isEmpty ? link.issuer : link.label)
        let name = ApprovalStore.freeName(wanted, in: book.accounts)
        if link.asksForNoVerification {
            run.terminal.warn(
                "asks-for-no-verification",
                "the link asks for the server's certificate not to be verified; ykit verifies it anyway")
        }
        if !link.unlock.isEmpty {
            run.terminal.note(
                "the server requires the account to be unlocked with '\(link.unlock.printable)': "
                    + "the security key's PIN and touch serve instead")
        }
        // No question if the user named the server, and keys and answers are sent only to it.
        if try self.server.map({ try HTTPURL($0).origin != link.url.origin }) ?? true {
            try agreement.ask(
                "keys and answers would be sent to \(server), run by "
                    + "'\(PushRequest.shown(link.issuer, limit: 64))': enroll '\(name.printable)' there?", in: run)
        }
        try run.perform { try checkSources(in: run) }
        try run.perform { try book.file.update { _ in } }
        let made = try await enrolled(link, name, access, approver, trust, book, run)
        return outcome(made, link)
    }

    private func pushLink(
        _ given: String?, _ approver: Approver, _ trust: HTTPTrust, _ run: Run
    ) async throws -> PushLink {
        if let server, let user = person.user {
            try run.stopPlan("sign in as \(user) at \(server) and ask for an enrollment link")
            return try await approver.requestLink(
                try HTTPURL(server), user: user, try person.password(run), trust: trust)
        }
        return try PushLink(given ?? "")
    }

    /// Refuses an enrollment in which a secret that is needed later can be neither read nor asked for.
    private func checkSources(in run: Run) throws {
        guard run.replay == nil else { return }
        func check(_ source: SecretInput.Source) throws {
            if !source.isGiven(run.terminal) { try run.terminal.requirePerson(orElse: source.hint) }
        }
        if !software, pinPolicy != .never { try check(run.source(of: .pivPIN, key.pin)) }
        // With a link nothing is lost if the FIDO2 application, which comes first, refuses.
        if require == .uv, server != nil { try check(run.source(of: .fidoPIN, key.fidoPIN)) }
    }

    private func enrolled(
        _ link: PushLink, _ name: String, _ access: EnrolmentAccess?, _ approver: Approver, _ trust: HTTPTrust,
        _ book: AccountStore, _ run: Run
    ) async throws -> Approver.Enrolment {
        // The key may refuse these steps, so they precede the use of a slot.
        let proof =
            if let access { access.proof } else { try await run.perform { try await self.proof(name, run) } }
        let made: NewApproveKey
        do { made = try await NewApproveKey.make(self, link, access?.slot, run) } catch {
            try stopPlan(link, run)
            throw error
        }
        try stopPlan(link, run)
        let sealing = try await made.secret.asyncMap { secret in
            if let sealing = access?.sealing { return (secret, sealing) }
            return (secret, try await SoftwareSealing.prepare(book, try key.storeKey(software: true), run))
        }
        do {
            let enrolment = try await approver.enroll(
                link, name: name, made.key, made.place, address: listen, trust: trust, proof: proof)
            try keep(enrolment.account, sealing, book)
            return enrolment
        } catch {
            await made.discard()
            throw error
        }
    }

    /// Creates the credential for `--require uv`.
    func proof(_ name: String, _ run: Run) async throws -> UserProof? {
        guard require == .uv else { return nil }
        let service = try await run.openFIDO(key.fidoPIN, for: "create the account's credential")
        run.announce("a credential that proves your presence before each approval")
        let proof = try await UserProof.make(service, name: name, run.environment.random)
        await service.close()
        return proof
    }

    /// Ends a plan at the first request.
    private func stopPlan(_ link: PushLink, _ run: Run) throws {
        try run.stopPlan(
            "sign '\(PushText.poll(serial: link.serial, timestamp: UTCDate.timestamp(run.now)))'",
            ["then send the public key to \(link.url)"])
    }

    private func keep(
        _ account: PushAccount, _ sealing: (secret: SharedSecret, key: SoftwareSealing)?, _ book: AccountStore
    ) throws {
        let stored = account.stored
        try book.file.update { store throws(StoreError) in
            guard let sealing else { return store.put(stored.record) }
            guard store.seals == book.content.seals else { throw .file(.inUse(path: book.file.path)) }
            if let seal = sealing.key.seal { store.add(seal) }
            store.put(
                try sealing.key.key.seal(
                    sealing.secret.value, id: stored.id, service: ApprovalStore.service, stored.description))
        }
    }

    private func outcome(_ enrolment: Approver.Enrolment, _ link: PushLink) -> Outcome<EnrolledAccount> {
        let account = enrolment.account
        var lines = ["enrolled '\(account.account.name.printable)' at \(account.account.server.printable)"]
        if case .piv(let place) = account.place {
            lines.append("  the key is in slot \(place.slot), " + TouchWords.text(place.policies))
            if account.proof != nil {
                lines.append(
                    "  ykit approves only after user verification by FIDO2; this does not restrict other programs")
            }
        } else {
            lines.append("  the key is in software, sealed in the store")
        }
        let push = EnrolledAccount.PushDetails(
            account: account, isProven: enrolment.problem == nil, isPollOnly: link.isPollOnly)
        var outcome = Outcome(EnrolledAccount(account: account.account, key: account.place, push: push), lines)
        if let problem = enrolment.problem {
            var explanation = Explanation(problem)
            explanation.message = "the account is enrolled and kept, but its first poll failed: " + explanation.message
            outcome.answer.failure = explanation
        }
        return outcome
    }
}

/// The values of `--require`.
enum RequiredProof: String, ExpressibleByArgument, CaseIterable {
    case uv
}

/// Describes the policies of a key.
enum TouchWords {
    static func text(_ policies: KeyPolicies) -> String {
        let touch =
            switch policies.touch {
            case .always: "each signature needs a touch"
            case .cached: "one touch covers all signatures within 15 seconds"
            case .never: "it signs without a touch: any program that reaches the unlocked key can approve"
            default: "touch \(policies.touch)"
            }
        return touch + (policies.pin == .never ? ", without PIN" : ", PIN \(policies.pin)")
    }
}

extension Optional {
    /// Transforms the value, if there is one, asynchronously.
    func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async throws -> Value? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
