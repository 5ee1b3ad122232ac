// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKHTTP
import YKOATH
import YKPIV
import YKStore
import YKWire

/// Shows the purpose of a link or QR code.
struct ApproveQRType: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show what a link or QR code is for; nothing is sent.",
        discussion: """
            enrollment enrolls an account, onlineAuth answers a login, container registers the key as a container, \
            transfer carries accounts of another app, unknown is any other text, invalid a link that is malformed or \
            has another scheme. A text that a service shows for an offline code is also unknown; sign it with 'ykit \
            approve offline'.
            """,
        examples: [
            Example("ykit approve qr-type 'tiqrauth://alice@example.org/1/2/Example'"),
            Example("ykit approve qr-type --qr login.png"),
        ])
    static let answer = Shape<ApprovalLink?>(
        Member("type", "enrollment, onlineAuth, container, transfer, unknown or invalid") { kind($0).rawValue },
        Member("protocol") { $0?.protocolName }, Member("server") { $0?.server }, Member("serial") { $0?.serial })

    private static func kind(_ link: ApprovalLink?) -> ApprovalLink.Kind { link?.kind ?? .invalid }

    @Argument("text", help: "The link or text, or - for standard input.", completion: .inputText) var text: String?

    @Option(
        "--qr <file|camera>",
        help: "Read the text from this picture or file, - for standard input, or the camera.",
        completion: .input)
    var qr: String?

    func check() throws {
        if (text == nil) == (qr == nil) { throw UsageError("give a text, or --qr with a picture") }
    }

    func run(in run: Run) async throws -> Outcome<ApprovalLink?> {
        let read = try LinkSource.read(text, qr, run.terminal)
        let link = try? ApprovalLink(read)
        let details = [link?.protocolName, link?.serial, link?.server].compactMap { $0?.printable }
        return Outcome(
            link, [Self.kind(link).rawValue] + (details.isEmpty ? [] : ["  " + details.joined(separator: "  ")]))
    }
}

enum ContainerAnswer: SecretKind {
    static let name = SecretName("answer", "answer to a container's question", "YKIT_CONTAINER_ANSWER")
}

/// The result of opening a link.
struct OpenedLink: Report {
    let kind: ApprovalLink.Kind
    let account: ApprovalAccount
    var login: TiQRResult?
    var entry: String?
    var key: ApprovalKeyPlace?
    /// The lines for people.
    let lines: [String]

    private var triesLeft: Int? { if case .wrong(let left)? = login { left } else { nil } }

    static let members: [Member<OpenedLink>] = [
        Member("type", "enrollment, onlineAuth or container") { $0.kind.rawValue },
        Member("accountId") { $0.account.id },
        Member("name") { $0.account.name },
        Member("serial") { $0.account.serial },
        Member("server") { $0.account.server },
        Member("accepted", "of a login") { $0.login.map { $0 == .accepted } },
        Member("retries", "tries left, for a login") { $0.triesLeft },
        Member("enter", "what to enter at the server in a two-step enrollment") { $0.entry },
        Member("key", "of a container") { $0.key.map(KeyPlaceReport.init) },
    ]
}

/// Performs the action of a link or QR code.
struct ApproveOpen: AccountKeyVerb {
    static let about = About(
        "Open a link or QR code: log in, or enroll an account.",
        discussion: """
            tiqrauth:// answers a login, tiqrenroll:// enrolls at a TiQR service, otpauth://totp and hotp add an \
            account with codes to the key, pia://container registers the key as a container. The destination of the \
            link is shown first and must be confirmed. Push accounts are enrolled with 'ykit approve enroll', which \
            has their options.
            """,
        examples: [Example("ykit approve open --qr login.png")])

    @OptionGroup var source: LinkOptions

    @Option("--name <name>", help: "A name for a new account; for a login, the account that answers.") var name: String?

    @Option(
        "--slot",
        help: "The PIV slot of a container's key: auto selects the first free one of \(PIVSlot.retiredWords).")
    var slot = "auto"

    @Option(
        "--touch", among: TouchPolicy.plain,
        help: "The touch policy of the container's or account's key: never, always or cached.")
    var touch: TouchPolicy?

    @OptionGroup var answer: SecretOptions<ContainerAnswer>
    @OptionGroup var agreement: Agreement
    @OptionGroup var trust: ServerTrustOptions
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions
    @OptionGroup var password: PasswordOptions
    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if (source.link == nil) == (source.qr == nil) { throw UsageError("give a link, or --qr with a picture") }
        _ = try PIVSlot.forAccount(slot)
    }

    func run(in run: Run) async throws -> Outcome<OpenedLink> {
        let opened = try await open(run)
        var outcome = Outcome(opened, opened.lines)
        outcome.answer.failure = opened.login?.refusal
        return outcome
    }

    /// Performs the action.
    func open(_ run: Run) async throws -> OpenedLink {
        switch try ApprovalLink(try source.read(run.terminal)) {
        case .tiqrLogin(let login): return try await log(in: login, run)
        case .tiqrEnrolment(let link): return try await enroll(link, run)
        case .code(let link): return try await add(link, run)
        case .container(let link): return try await register(link, run)
        case .push:
            throw Explanation.usage(
                "this link enrolls a push account", hint: "ykit approve enroll, with the same link")
        case .transfer:
            throw Explanation.usage(
                "this QR code carries accounts of another app", hint: "ykit oath import, with the same picture")
        case .text:
            throw Explanation.usage(
                "this is a text, not a link", hint: "compute a code for it: ykit approve offline --text")
        }
    }

    // MARK: TiQR

    private func log(in login: TiQRLogin, _ run: Run) async throws -> OpenedLink {
        let book = try path.accounts(run)
        let account = try TiQRMatch.one(login, name, book, run)
        let server = account.account.server
        try agreement.ask(
            "log in as '\(account.identityName.printable)' at \(account.account.issuer.printable) (\(server.printable))?",
            in: run)
        let sealed = try await SealedAccounts.open(book, key, run)
        try run.endPlan("answer the challenge \(login.challenge.printable) at \(account.url)")
        guard let secret = try sealed.secret(of: account.account) else {
            throw StoreError.recordChanged(account.account.id)
        }
        var client = try run.tiqrClient()
        client.trust = account.trust
        let result = try await client.answer(login, account, secret.value)
        try book.history.append(
            ApprovalEvent(
                time: run.now, account: account.account.id, decision: "logged-in", isAccepted: result == .accepted,
                challenge: ["nonce": .string(login.session), "service": .string(login.service)],
                signedText: login.challenge, signature: ""))
        let words = "logged in as '\(account.identityName.printable)' at \(account.account.issuer.printable)"
        return OpenedLink(
            kind: .onlineAuth, account: account.account, login: result, lines: result == .accepted ? [words] : [])
    }

    private func enroll(_ link: TiQREnrolmentLink, _ run: Run) async throws -> OpenedLink {
        let book = try path.accounts(run)
        var client = try run.tiqrClient()
        client.trust = try trust.trust(forAccountIn: run)
        let enrolment = try await client.enrolment(link, at: run.now)
        var account = enrolment.account
        account.account.name = ApprovalStore.freeName(name ?? account.account.issuer, in: book.accounts)
        try book.checkRoom(for: account.account.id)
        let server = account.account.server
        try agreement.ask(
            "answers would be sent to \(server.printable), run by "
                + "'\(PushRequest.shown(account.account.issuer, limit: 64))': "
                + "enroll '\(account.identityName.printable)' there?", in: run)
        let sealed = try await SealedAccounts.open(book, key, run)
        try run.endPlan("enroll at \(server.printable), and add the account to \(book.file.path.printable)")
        let secret = try client.secret()
        try sealed.put(account.stored, secret)
        do { try await client.register(secret.value, at: enrolment.url) } catch {
            // Keeps an account that was not refused, since the service may have enrolled it.
            if case .server(.refused(_, _, _)) = error {
                try book.file.update { $0.remove(account.account.id) }
                throw error
            }
            var explanation = Explanation(error)
            explanation.hint =
                "the server may have the secret anyway, so the account is kept: try to log in, or remove it with "
                + "'ykit approve logout'"
            throw explanation
        }
        return OpenedLink(
            kind: .enrollment, account: account.account,
            lines: ["enrolled '\(account.account.name.printable)' at \(server.printable)"])
    }

    // MARK: accounts with codes, containers

    private func add(_ link: CodeLink, _ run: Run) async throws -> OpenedLink {
        let book = try path.accounts(run)
        let server = link.account.id.issuer ?? "oath"
        let stored = CodeAccount(
            id: link.account.id, name: "", serial: link.serial ?? link.account.id.name, server: server, container: nil,
            added: 0)
        try book.checkRoom(for: stored.account.id)
        try agreement.ask("add '\(link.account.id.text.printable)' to the key's OATH application?", in: run)
        let service = try await run.oath(password)
        let enrolment = CodeEnrolment(
            run: run, writer: AccountWriter(service: service), touch: touch == .always || touch == .cached)
        let made = try await enrolment.add(
            link, name: name, server: server, container: nil, book.accounts)
        try run.endPlan("add the account to \(book.file.path.printable)")
        try book.file.update { $0.put(made.account.record) }
        let request = made.entry.map { "to complete the enrollment, enter this at the server: \($0)" }
        return OpenedLink(
            kind: .enrollment, account: made.account, entry: made.entry,
            lines: ["added '\(made.account.name.printable)'", request].compactMap(\.self))
    }

    private func register(_ link: ContainerLink, _ run: Run) async throws -> OpenedLink {
        let book = try path.accounts(run)
        let server = link.server.origin
        try book.checkRoom(for: "\(link.serial)@\(PushAccount.server(of: link.server))")
        let trust = try trust.trust(forAccountIn: run)
        if link.asksForNoVerification {
            run.terminal.warn(
                "asks-for-no-verification",
                "the link asks for the server's certificate not to be verified; ykit verifies it anyway")
        }
        try agreement.ask(
            "register this key as container \(link.serial) of \(server), run by "
                + "'\(PushRequest.shown(link.issuer, limit: 64))'?", in: run)
        let phrase = try link.passphrasePrompt.map { try passphrase($0, run) }
        let device = try await FreeSlot(try PIVSlot.forAccount(slot), makesRSA: false, pin, managementKey, run)
            .makeKey(.p384, KeyPolicies(pin: .once, touch: touch ?? .cached), run)
        let container = ContainerAccount(
            link, name: ApprovalStore.freeName(name ?? link.issuer, in: book.accounts), publicKey: device.publicKey,
            place: .piv(device.place), model: "PIV slot \(device.place.slot)", trust: trust, added: run.now)
        do {
            try await run.containerClient().register(
                link, device, model: container.model, passphrase: phrase, trust)
        } catch {
            await device.discard()
            throw error
        }
        try book.file.update { $0.put(container.stored.record) }
        return OpenedLink(
            kind: .container, account: container.account, key: container.place,
            lines: [
                "registered as container '\(container.account.name.printable)'; the key is in slot \(device.place.slot)",
                "fetch its accounts with: ykit approve sync",
            ])
    }

    private func passphrase(_ question: String, _ run: Run) throws -> SharedSecret {
        if let given = try answer.source.given(run.terminal) { return given }
        return try run.terminal.secret(
            "answer", after: "the server asks a question: \(PushRequest.shown(question, limit: 200))",
            orElse: ContainerAnswer.name.hint)
    }
}

extension ApproveEnroll {
    /// Enrolls an account of another kind, with the options that both verbs share.
    func open(_ text: String, _ run: Run) async throws -> Outcome<EnrolledAccount> {
        if try ApprovalLink(text).kind == .onlineAuth {
            throw Explanation.usage("this link answers a login", hint: "ykit approve open, with the same link")
        }
        var verb = ApproveOpen()
        verb.source.link = text
        (verb.name, verb.slot, verb.touch, verb.agreement) = (name, slot, touch, agreement)
        (verb.trust, verb.managementKey, verb.path) = (trust, managementKey, path)
        verb.pin = key.pin
        verb.key = try key.storeKey(software: software)
        let opened = try await verb.open(run)
        return Outcome(EnrolledAccount(account: opened.account, key: opened.key, entry: opened.entry), opened.lines)
    }
}

extension TiQRResult {
    /// Why a TiQR service refused the login; `nil` if it succeeded.
    var refusal: Explanation? {
        switch self {
        case .accepted: return nil
        case .wrong(let left):
            var explanation = Explanation(
                "wrong-response", .authentication,
                "the service refused the response" + (left.map { ", \(Tries.areLeft($0))" } ?? ""),
                hint: "the account may have been enrolled again elsewhere; enroll it again here")
            explanation.retriesLeft = left
            return explanation
        case .unknownChallenge:
            return Explanation(
                "expired", .timeOut, "the login is no longer open: it has expired or has already been answered",
                hint: "start the login again")
        case .unknownIdentity:
            return Explanation(
                "unknown-user", .notFound, "the service does not know this account",
                hint: "it was deleted there; enroll again")
        case .blocked(let duration):
            let minutes = duration.map { " for \($0.components.seconds / 60) minutes" } ?? ""
            return Explanation("locked", .blocked, "the service locked the account" + minutes)
        case .other(let text):
            return Explanation("failed", .failed, "the service answered \(text.printable)")
        }
    }
}
