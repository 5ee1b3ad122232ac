// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKHTTP
import YKOATH
import YKPIV
import YKStore
import YKWire

/// What the verbs of a container need: the PIN and management key of its key, the password of the accounts with codes, and
/// the store.
struct ContainerOptions: ParsableArguments {
    @OptionGroup var pin: PINOptions
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var password: PasswordOptions
    @OptionGroup var path: ApproveStoreOptions
    @OptionGroup var key: StoreKeyOptions
}

/// A synchronized container, and the result for each of its tokens.
struct SynchronizedContainer: Report {
    let account: ApprovalAccount
    let added: [String]
    let kept: [String]
    let gone: [String]
    let isPending: Bool

    static let members: [Member<SynchronizedContainer>] = [
        Member("accountId") { $0.account.id },
        Member("addedSerials") { $0.added },
        Member("keptSerials") { $0.kept },
        Member("goneSerials") { $0.gone },
        Member("pending", "whether secrets are pending in the store") { $0.isPending },
    ]
}

/// Synchronizes a container.
struct ApproveSync: AccountKeyVerb {
    static let about = About(
        "Fetch the accounts of a container, and write them to the key.",
        discussion: """
            The server generates new secrets for every token that the key does not report, so the answer is first \
            sealed and written to the store, then used. After an interruption, 'sync' resumes where it stopped before \
            it asks the server again.
            """,
        examples: [Example("ykit approve sync")])

    @Argument(
        "container", help: "The container: its name, serial number, or part of one; not needed with one container.")
    var container: EntryQuery?

    @OptionGroup var access: ContainerOptions

    func run(in run: Run) async throws -> Outcome<SynchronizedContainer> {
        let book = try access.path.accounts(run)
        let container = try book.container(container, run)
        let sealed = try await SealedAccounts.open(book, access.key, run)
        let tokens = ContainerTokens(container, sealed, run, access.password, access.pin, access.managementKey)
        try await tokens.finish()
        try await tokens.prepare()
        let device = try await DeviceKey.open(container, access.pin, in: run)
        try run.endPlan("synchronize container \(container.serial) with \(container.server.origin)")
        try await tokens.synchronize(device)
        return tokens.outcome(
            tokens.synchronized, "container '\(container.account.name.printable)' is synchronized")
    }
}

/// Transfers the tokens of a container to the key; each step is saved in the store before the next one.
final class ContainerTokens {
    private(set) var container: ContainerAccount
    private let sealed: SealedAccounts
    private let run: Run
    private let password: PasswordOptions
    private let pin: PINOptions
    private let managementKey: ManagementKeyOptions
    private var service: OATHService?
    private var writer: AccountWriter?
    private var added: [String] = []
    private var kept: [String] = []
    private var gone: [String] = []
    private var problem: Explanation?

    init(
        _ container: ContainerAccount, _ sealed: SealedAccounts, _ run: Run, _ password: PasswordOptions,
        _ pin: PINOptions, _ managementKey: ManagementKeyOptions
    ) {
        (self.container, self.sealed, self.run) = (container, sealed, run)
        (self.password, self.pin, self.managementKey) = (password, pin, managementKey)
    }

    /// Writes tokens to the key that an interrupted synchronization left in the store.
    func finish() async throws {
        guard let secret = try run.perform({ try sealed.secret(of: container.account) }) else { return }
        run.terminal.notice("finishing the synchronization that was interrupted")
        try await write(try ContainerUpdate(secret))
    }

    /// Unlocks the OATH application once, so that a missing password is noticed before the old secrets become invalid.
    func prepare() async throws {
        try await run.perform { await (try await run.oath(password)).close() }
    }

    /// Synchronizes with the server, stores the answer, and writes the new accounts to the key.
    func synchronize(_ device: DeviceKey) async throws {
        guard problem == nil else { return }
        let held = container.tokens
        let client = try run.containerClient()
        let update = try await client.synchronize(container, device)
        let links = try update.links()
        await device.close()
        try sealed.put(container.stored, links.isEmpty ? nil : update.plaintext)
        let confirmed = try update.confirmed().map(\.serial)
        let new = links.compactMap { try? ApprovalLink($0).serial }
        kept = held.map(\.serial).filter { confirmed.contains($0) }
        gone = held.map(\.serial).filter { !confirmed.contains($0) && !new.contains($0) }
        container.tokens = held.filter { !gone.contains($0.serial) }
        guard !links.isEmpty else { return try sealed.put(container.stored, nil) }
        try await write(update)
    }

    /// Writes accounts to the key one by one; those that fail stay sealed in the store.
    private func write(_ update: ContainerUpdate) async throws {
        var left = try update.links()
        for text in left {
            do {
                if let token = try await write(text) {
                    added.append(token.serial)
                    container.tokens = container.tokens.filter { $0.serial != token.serial } + [token]
                }
                left.removeAll { $0 == text }
                try sealed.put(container.stored, left.isEmpty ? nil : try ContainerUpdate(links: left).plaintext)
            } catch {
                if run.isInterrupted { throw error }
                problem = problem ?? Explanation(error)
            }
        }
        await release()
    }

    private func release() async {
        await service?.close()
        (service, writer) = (nil, nil)
    }

    /// Writes one account; returns `nil`, with a warning, for a kind that keys do not support.
    private func write(_ text: String) async throws -> ContainerAccount.Token? {
        let kind = text.lowercased()
        guard ["otpauth://totp/", "otpauth://hotp/"].contains(where: kind.hasPrefix) || PushLink.matches(text) else {
            run.terminal.warn("unsupported", "the container has an account of an unsupported type; it is skipped")
            return nil
        }
        switch try ApprovalLink(text) {
        case .code(let link):
            guard let serial = link.serial else { throw ApprovalError.malformed("a token of the container") }
            let known = sealed.book.accounts.first { $0.serial == serial && $0.server == container.account.server }
            let enrolment = CodeEnrolment(run: run, writer: try await openWriter(), touch: false)
            var made = try await enrolment.add(
                link, name: known?.name, server: container.account.server, container: container.serial,
                sealed.book.accounts.filter { $0.id != known?.id }, force: isVoid(link.account.id, known)
            ).account
            if let known { made.name = known.name }
            try sealed.put(made, nil)
            return ContainerAccount.Token(serial: serial, type: made.kind.rawValue)
        case .push(let link):
            await release()
            try await enroll(link)
            return ContainerAccount.Token(serial: link.serial, type: "push")
        default: return nil
        }
    }

    private func openWriter() async throws -> AccountWriter {
        if let writer { return writer }
        let service = try await run.oath(password)
        let writer = AccountWriter(service: service)
        (self.service, self.writer) = (service, writer)
        return writer
    }

    /// Whether the account of that name on the key holds an old secret of this token, which the server has replaced,
    /// and belongs to no other account.
    private func isVoid(_ id: OATHAccountID, _ known: ApprovalAccount?) -> Bool {
        let owners = sealed.book.accounts.filter { CodeAccount($0)?.id.rawName == id.rawName }
        return known != nil && owners.map(\.id) == [known?.id]
    }

    /// Enrolls a push token of the container with its own key.
    private func enroll(_ link: PushLink) async throws {
        let id = "\(link.serial)@\(PushAccount.server(of: link.url))"
        let known = sealed.book.accounts.first { $0.id == id }
        let name = known?.name ?? ApprovalStore.freeName(link.issuer, in: sealed.book.accounts)
        let device = try await FreeSlot(nil, makesRSA: true, pin, managementKey, run)
            .makeKey(.rsa2048, KeyPolicies(pin: .once, touch: .cached), run)
        do {
            let enrolment = try await run.approver().enroll(
                link, name: name, device, .piv(device.place), trust: container.trust)
            try sealed.put(enrolment.account.stored, nil)
            if let problem = enrolment.problem { run.terminal.warn(Warning(Explanation(problem))) }
        } catch {
            await device.discard()
            throw error
        }
        await device.close()
    }

    /// The result for each token.
    var synchronized: SynchronizedContainer {
        SynchronizedContainer(
            account: container.account, added: added, kept: kept, gone: gone, isPending: problem != nil)
    }

    /// Returns an outcome with a line for people and the changes, or with the problem if there was one.
    func outcome<Reported>(_ report: Reported, _ line: String) -> Outcome<Reported> {
        guard var problem else {
            let changes = [
                ("new", added), ("unchanged", kept), ("no longer in the container: their codes are not valid", gone),
            ].filter { !$0.1.isEmpty }
            return Outcome(report, [line] + changes.map { "  \($0.0): \($0.1.listed())" })
        }
        problem.message = "not all accounts were written to the key; the rest are kept in the store: " + problem.message
        problem.hint = problem.hint ?? "repeat 'ykit approve sync' once the cause is fixed"
        var outcome = Outcome(report)
        outcome.answer.failure = problem
        return outcome
    }
}

extension ApproveLogout {
    /// Leaves a container: the server removes the key, and the container's accounts become invalid.
    func leave(
        _ container: ContainerAccount, _ book: AccountStore, _ run: Run
    ) async throws -> Outcome<Reported> {
        let device = try await DeviceKey.open(container, key.pin, managementKey, in: run)
        var isTold = true
        do { try await run.containerClient().terminate(container, device) } catch {
            // 3001: the server has already removed it.
            guard case ApprovalError.server(.refused(_, 3001, _)) = error else { throw error }
            run.terminal.warn("unknown-container", "the server no longer knows the container")
            isTold = false
        }
        let isDeleted = try await keepKey ? false : device.delete()
        try book.file.update { store throws(StoreError) in
            store.remove(container.account.id)
            for account in book.accounts where CodeAccount(account)?.container == container.serial {
                store.remove(account.id)
            }
        }
        return Outcome(
            (account: container.account, isTold: isTold, isDeleted: isDeleted),
            ["left container '\(container.account.name.printable)'", "delete its accounts with 'ykit oath delete'"])
    }
}
