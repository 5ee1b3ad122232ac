// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKApproval
import YKCrypto
import YKHTTP
import YKOATH
import YKPIV
import YKStore
import YKTransport
import YKWire

/// Shows the purpose of a link or QR code.
struct ApproveQRType: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "qr-type", "Show what a link or QR code is for; nothing is sent.",
        discussion: """
            enrollment enrols an account, onlineAuth answers a login, container registers the key as a container, transfer \
            carries accounts of another app, unknown is any other text, invalid a link that is malformed or of another \
            scheme. A text that a service shows for an offline code is unknown, too: 'approve offline' signs it.
            """, members: ["type", "protocol", "server", "serial"])

    @Argument("text", help: "The link or text, or - for standard input.") var text: String?

    @Option(
        "--qr <file|camera>",
        help: "Read the text from this picture or file, - for standard input, or the camera.",
        completion: .file)
    var qr: String?

    func check() throws {
        if (text == nil) == (qr == nil) { throw UsageError("give a text, or --qr with a picture") }
    }

    func answer(in world: World) async throws -> Answer {
        let read = try LinkSource.read(text, qr, world.terminal)
        let link = try? ApprovalLink(read)
        let kind = link?.kind ?? .invalid
        func value(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        let details = [link?.protocolName, link?.serial, link?.server].compactMap { $0?.printable }
        return Answer(
            [kind.rawValue] + (details.isEmpty ? [] : ["  " + details.joined(separator: "  ")]),
            [
                "type": .string(kind.rawValue), "protocol": value(link?.protocolName), "server": value(link?.server),
                "serial": value(link?.serial),
            ])
    }
}

enum ContainerAnswer: SecretKind {
    static let name = SecretName("answer", "answer to a container's question", "YKIT_CONTAINER_ANSWER")
}

/// Performs the action of a link or QR code.
struct ApproveOpen: AccountKeyVerb {
    static let about = About(
        "open", "Open a link or QR code: log in, or enrol an account.",
        discussion: """
            tiqrauth:// answers a login, tiqrenroll:// enrols at a TiQR service, otpauth://totp and hotp add an account \
            with codes to the key, pia://container registers the key as a container. Where the link leads is shown first, \
            and asked. Push accounts are enrolled with 'ykit approve enroll', which has their options.
            """, members: ["type", "account", "name", "serial", "server", "accepted", "triesLeft", "enter", "key"])

    @OptionGroup var source: LinkOptions

    @Option("--name <name>", help: "A name for a new account; which account answers, with a login.") var name: String?

    @Option(
        "--slot", help: "The PIV slot of a container's key: auto takes the first free one of \(PIVSlot.retiredWords).")
    var slot = "auto"

    @Option(
        "--touch", among: TouchPolicy.plain,
        help: "When a container's key, or an account with codes, needs a touch: never, always or cached.")
    var touch: TouchPolicy?

    @OptionGroup var answer: SecretOptions<ContainerAnswer>
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var trust: ServerTrustOptions
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions
    @OptionGroup var password: PasswordOptions
    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if (source.link == nil) == (source.qr == nil) { throw UsageError("give a link, or --qr with a picture") }
        _ = try PIVSlot.forAccount(slot)
        let readers = [
            source.isStandardInput, answer.isStandardInput, pin.isStandardInput, managementKey.isStandardInput,
            password.isStandardInput, key.usesStandardInput,
        ]
        try UsageError.check(standardInput: readers)
    }

    func answer(in world: World) async throws -> Answer {
        let link = try ApprovalLink(try source.read(world.terminal))
        switch link {
        case .tiqrLogin(let login): return try await log(in: login, world)
        case .tiqrEnrolment(let link): return try await enroll(link, world)
        case .code(let link): return try await add(link, world)
        case .container(let link): return try await register(link, world)
        case .push:
            throw Explanation.usage(
                "this link enrols a push account", hint: "ykit approve enroll, with the same link")
        case .transfer:
            throw Explanation.usage(
                "this QR code carries accounts of another app", hint: "ykit oath import, with the same picture")
        case .text:
            throw Explanation.usage(
                "this is a text, not a link", hint: "make a code for it: ykit approve offline --text")
        }
    }

    // MARK: TiQR

    private func log(in login: TiQRLogin, _ world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let account = try TiQRMatch.one(login, name, book, world)
        let server = account.account.server
        try confirmation.ask(
            "log in as '\(account.identityName.printable)' at \(account.account.issuer.printable) (\(server.printable))?",
            in: world)
        let sealed = try await SealedAccounts.open(book, key, world)
        if let plan = world.plan {
            plan.add("answer the challenge \(login.challenge.printable) at \(account.url)")
            return Answer()
        }
        guard let secret = try sealed.secret(of: account.account) else {
            throw StoreError.recordChanged(account.account.id)
        }
        var client = try world.tiqrClient()
        client.trust = account.trust
        let result = try await client.answer(login, account, secret.value)
        try book.history.append(
            ApprovalEvent(
                time: world.now, account: account.account.id, decision: "logged-in", isAccepted: result == .accepted,
                challenge: ["nonce": .string(login.session), "service": .string(login.service)],
                signedText: login.challenge, signature: ""))
        var answer = Answer(
            result == .accepted
                ? "logged in as '\(account.identityName.printable)' at \(account.account.issuer.printable)" : "",
            members(.onlineAuth, account.account))
        if result != .accepted { answer.lines = [] }
        answer.members["accepted"] = .bool(result == .accepted)
        if case .wrong(let left?) = result { answer.members["triesLeft"] = .int(Int64(left)) }
        answer.failure = Explain.tiqr(result)
        return answer
    }

    private func enroll(_ link: TiQREnrolmentLink, _ world: World) async throws -> Answer {
        let book = try path.accounts(world)
        var client = try world.tiqrClient()
        client.trust = try trust.trust(forAccountIn: world)
        let enrolment = try await client.enrolment(link, at: world.now)
        var account = enrolment.account
        account.account.name = ApprovalStore.freeName(name ?? account.account.issuer, in: book.accounts)
        try book.checkRoom(for: account.account.id)
        let server = account.account.server
        try confirmation.ask(
            "enrol '\(account.identityName.printable)' at \(server.printable), run by "
                + "'\(PushRequest.shown(account.account.issuer, limit: 64))'? Answers go there", in: world)
        let sealed = try await SealedAccounts.open(book, key, world)
        guard world.plan == nil else { return Answer() }
        let secret = try client.secret()
        try sealed.put(account.stored, secret)
        do { try await client.register(secret.value, at: enrolment.url) } catch {
            // The service may have enrolled it, so an account that was not refused is kept.
            if case .server(.refused(_, _, _)) = error {
                try book.file.update { $0.remove(account.account.id) }
                throw error
            }
            var explanation = Explain.explain(error)
            explanation.hint =
                "the server may have the secret all the same, so the account is kept: try to log in, or remove it with "
                + "'ykit approve logout'"
            throw explanation
        }
        return Answer(
            "enrolled '\(account.account.name.printable)' at \(server.printable)", members(.enrollment, account.account)
        )
    }

    // MARK: accounts with codes, containers

    private func add(_ link: CodeLink, _ world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let server = link.account.id.issuer ?? "oath"
        let stored = CodeAccount(
            id: link.account.id, name: "", serial: link.serial ?? link.account.id.name, server: server, container: nil,
            added: 0)
        try book.checkRoom(for: stored.account.id)
        try confirmation.ask("add '\(link.account.id.text.printable)' to the key's OATH application?", in: world)
        let service = try await world.oath(password)
        let enrolment = CodeEnrolment(
            world: world, writer: AccountWriter(service: service), touch: touch == .always || touch == .cached)
        let made = try await enrolment.add(
            link, name: name, server: server, container: nil, book.accounts)
        guard world.plan == nil else { return Answer() }
        try book.file.update { $0.put(made.account.record) }
        var answer = Answer(
            ["added '\(made.account.name.printable)'"], members(.enrollment, made.account))
        if let entry = made.entry {
            answer.lines.append("type this in at the server, which completes the enrolment: \(entry)")
            answer.members["enter"] = .string(entry)
        }
        return answer
    }

    private func register(_ link: ContainerLink, _ world: World) async throws -> Answer {
        let book = try path.accounts(world)
        let server = link.server.origin
        try book.checkRoom(for: "\(link.serial)@\(PushAccount.server(of: link.server))")
        let trust = try trust.trust(forAccountIn: world)
        if link.asksForNoVerification {
            world.terminal.warn(
                "the link asks for the server's certificate not to be verified; it is verified all the same")
        }
        try confirmation.ask(
            "register this key as container \(link.serial) of \(server), run by "
                + "'\(PushRequest.shown(link.issuer, limit: 64))'?", in: world)
        let phrase = try link.passphrasePrompt.map { try passphrase($0, world) }
        let device = try await DeviceKey.make(
            try PIVSlot.forAccount(slot), touch ?? .cached, managementKey, pin, world)
        let container = ContainerAccount(
            link, name: ApprovalStore.freeName(name ?? link.issuer, in: book.accounts), publicKey: device.publicKey,
            place: .piv(device.place), model: "PIV slot \(device.place.slot)", trust: trust, added: world.now)
        do {
            try await world.containerClient().register(
                link, device, model: container.model, passphrase: phrase, trust)
        } catch {
            await device.discard()
            throw error
        }
        try book.file.update { $0.put(container.stored.record) }
        var answer = Answer(
            [
                "registered as container '\(container.account.name.printable)'; the key is in slot \(device.place.slot)",
                "fetch its accounts with: ykit approve sync",
            ], members(.container, container.account))
        answer.members["key"] = container.place.json
        return answer
    }

    private func passphrase(_ question: String, _ world: World) throws -> SharedSecret {
        if let given = try answer.source.given(world.terminal) { return given }
        let prompt = try Prompt(orElse: ContainerAnswer.name.hint)
        prompt.tell("the server asks: \(PushRequest.shown(question, limit: 200))")
        return SharedSecret(try prompt.secret("answer"))
    }

    private func members(
        _ kind: ApprovalLink.Kind, _ account: ApprovalAccount
    ) -> KeyValuePairs<String, JSONValue> {
        [
            "type": .string(kind.rawValue), "account": .string(account.id), "name": .string(account.name),
            "serial": .string(account.serial), "server": .string(account.server), "accepted": .null, "triesLeft": .null,
            "enter": .null, "key": .null,
        ]
    }
}

extension ApproveEnroll {
    /// Enrols an account of another kind, with the options that both verbs share.
    func open(_ text: String, _ world: World) async throws -> Answer {
        if try ApprovalLink(text).kind == .onlineAuth {
            throw Explanation.usage("this link answers a login", hint: "ykit approve open, with the same link")
        }
        var verb = ApproveOpen()
        verb.source.link = text
        (verb.name, verb.slot, verb.touch, verb.confirmation) = (name, slot, touch, confirmation)
        (verb.trust, verb.managementKey, verb.path) = (trust, managementKey, path)
        verb.pin = key.pin
        verb.key = try key.storeKey(software: software)
        var answer = try await verb.answer(in: world)
        var members = JSONValue.Object()
        for name in Self.about.members { members[name] = answer.members[name] ?? .null }
        answer.members = members
        return answer
    }
}
