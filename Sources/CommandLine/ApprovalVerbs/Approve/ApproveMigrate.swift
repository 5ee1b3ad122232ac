// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKHTTP
import YKOATH
import YKPIV

/// Commands that move accounts to another key.
struct ApproveMigrateGroup: ParsableCommand {
    static let about = About(
        "Move the accounts of a container to another security key.",
        subcommands: ["check": ApproveMigrateCheck.self, "run": ApproveMigrateRun.self],
        examples: [Example("ykit approve migrate check")])
}

/// Lists the accounts that can be moved.
struct ApproveMigrateCheck: Verb {
    static let uses: GlobalUse = [.replay, .record]
    static let about = About(
        "Show which accounts can be moved to another key; nothing is changed.",
        discussion: """
            Accounts of a container can be moved. The secrets of TiQR and OCRA accounts stay in the store, which 'migrate \
            run' seals for the other key too. Others must be enrolled again on the other key.
            """,
        examples: [Example("ykit approve migrate check")])
    typealias Reported = (
        containers: [ContainerAccount], movable: [ApprovalAccount], others: [ApprovalAccount],
        staying: [ApprovalAccount]
    )
    static let answer = Shape<Reported>(
        Member("possible") { !$0.containers.isEmpty },
        Member("containers", "identifiers") { $0.containers.map(\.account.id) },
        Member("movable", "identifiers") { $0.movable.map(\.id) },
        Member("enrollAgain", "identifiers") { $0.others.map(\.id) },
        Member("staying", "identifiers of accounts whose secrets are in the store") { $0.staying.map(\.id) })

    @OptionGroup var path: ApproveStoreOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try path.accounts(run)
        let containers = book.accounts.compactMap { ContainerAccount($0) }
        let client = try run.containerClient()
        for container in containers { try await client.check(container) }
        let inside = Set(containers.flatMap { $0.tokens.map(\.serial) })
        let others = book.accounts.filter { $0.kind != .container }
        let movable = others.filter { inside.contains($0.serial) }
        let staying = others.filter { !inside.contains($0.serial) && ($0.kind == .ocra || $0.kind == .tiqr) }
        let again = others.filter { !inside.contains($0.serial) && !staying.contains($0) }
        var lines = ["\(containers.count) container\(containers.count == 1 ? "" : "s") can be moved"]
        lines += movable.map { "  moves with it: \($0.name.printable)" }
        let rest =
            again.map { "must be enrolled again: \($0.name.printable)" }
            + staying.map { "stays in the store: \($0.name.printable)" }
        lines += rest.map { "  " + $0 }
        var outcome = Outcome(
            (containers: containers, movable: movable, others: again, staying: staying), lines)
        if containers.isEmpty {
            outcome.answer.lines = rest
            outcome.answer.failure = Explanation(
                "nothing-to-move", .notFound, "the store has no container: there is nothing to move",
                hint: "enroll the accounts again on the other key")
        }
        return outcome
    }
}

/// Moves a container to another key.
struct ApproveMigrateRun: AccountKeyVerb {
    static let about = About(
        "Move a container and its accounts to another key; both keys are needed.",
        discussion: """
            A key pair is generated on the other security key, the current key hands the container over to it, and the \
            other key fetches the accounts with new secrets. The accounts on the current key are then no longer valid. \
            The store is also sealed for the other key.
            """,
        examples: [Example("ykit approve migrate run --to 12345678")])
    typealias Reported = (from: ApprovalKeyPlace, to: ApprovalKeyPlace, synchronized: SynchronizedContainer)
    static let answer = Shape<Reported>(
        Member("accountId") { $0.synchronized.account.id }, Member("from") { KeyPlaceReport(place: $0.from) },
        Member("to") { KeyPlaceReport(place: $0.to) }, Member("addedSerials") { $0.synchronized.added },
        Member("pending", "whether secrets are pending in the store") { $0.synchronized.isPending })

    @Argument(
        "container", help: "The container: its name, serial number, or part of one; not needed with one container.")
    var container: EntryQuery?

    @Option("--to <key>", help: "The other key: its serial number, or the state file of a virtual key.") var to: String

    @Option(
        "--slot", help: "The PIV slot on the other key: auto selects the first free one of \(PIVSlot.retiredWords).")
    var slot = "auto"

    @Option(
        "--touch", among: TouchPolicy.plain,
        help: "When the other key requires a touch to sign: never, always or cached.")
    var touch: TouchPolicy = .cached

    @OptionGroup var other: OtherKeyOptions

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var access: ContainerOptions

    func check() throws {
        _ = try PIVSlot.forAccount(slot)
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let book = try access.path.accounts(run)
        let old = try book.container(container, run)
        let other = try run.other(to)
        try confirmation.ask(
            "the codes of container '\(old.account.name.printable)' on this key would become invalid: move it to \(to.printable)?",
            in: run)
        run.describe("sign the hand-over of container \(old.serial) at \(old.server.origin)")
        try run.endPlan("generate a key on \(to), register it, and synchronize")
        let client = try run.containerClient()
        let sealed = try await SealedAccounts.open(book, access.key, run)
        if try sealed.secret(of: old.account) != nil {
            throw Explanation(
                "pending", .policy, "the last synchronization was interrupted",
                hint: "finish it first: ykit approve sync")
        }
        let present = try await DeviceKey.open(old, access.pin, in: run)
        let next = try await naming(other) {
            await (try await other.oath(self.other.password)).close()
            try await sealed.share(with: other, self.other.storeKey(access.key))
            return try await FreeSlot(
                try PIVSlot.forAccount(slot), makesRSA: false, self.other.pin, self.other.managementKey, other
            ).makeKey(.p384, KeyPolicies(pin: .once, touch: touch), other)
        }
        guard next.publicKey != old.publicKey,
            next.place.keySerial == nil || next.place.keySerial != present.place.keySerial
        else {
            await next.discard()
            throw Explanation.usage("--to names the key that already has the container")
        }
        let new = try await hand(old, present, to: next, client, run)
        try sealed.put(new.stored, nil)
        let tokens = ContainerTokens(
            new, sealed, other, self.other.password, self.other.pin, self.other.managementKey)
        do { try await tokens.synchronize(next) } catch {
            var explanation = Explanation(error)
            explanation.hint =
                "the container is now on the key \(to.printable); with that key, 'ykit approve sync' completes the move"
            throw explanation
        }
        return tokens.outcome(
            (from: old.place, to: new.place, synchronized: tokens.synchronized),
            "moved container '\(new.account.name.printable)' to the key \(to.printable)")
    }

    /// Runs a step on the other key; errors name that key.
    private func naming<Value>(_ other: Run, _ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            guard let name = other.otherKey else { throw error }
            throw Concerning(.key(name), error)
        }
    }

    /// Hands the container over; until the other key is registered, the current one remains valid.
    private func hand(
        _ old: ContainerAccount, _ present: DeviceKey, to next: DeviceKey, _ client: ContainerClient, _ run: Run
    ) async throws -> ContainerAccount {
        do {
            let link = try ContainerLink(try await client.rollover(old, present))
            let new = ContainerAccount(
                link, name: old.account.name, publicKey: next.publicKey, place: .piv(next.place),
                model: "PIV slot \(next.place.slot)", trust: old.trust, added: run.now)
            try await client.register(link, next, model: new.model, passphrase: nil, old.trust)
            return new
        } catch {
            await next.discard()
            throw error
        }
    }

}

/// The secrets of the other key; those of the current key are never sent to it.
struct OtherKeyOptions: ParsableArguments {
    static let title = "Options of the Other Key"

    @Option(
        "--to-pin-fd <n>",
        help: "Read the other key's PIV PIN from this open file descriptor; or set YKIT_PIV_PIN_SERIAL.")
    var toPinFd: Int32?

    @Option(
        "--to-fido-pin-fd <n>",
        help: "Read the other key's FIDO2 PIN from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL.")
    var toFidoPinFd: Int32?

    @Option(
        "--to-management-key-fd <n>",
        help: "Read the other key's management key from this open file descriptor; or set YKIT_MANAGEMENT_KEY_SERIAL.")
    var toManagementKeyFd: Int32?

    @Option(
        "--to-password-fd <n>",
        help:
            "Read the password of the other key's accounts from this open file descriptor; or set YKIT_OATH_PASSWORD_SERIAL."
    )
    var toPasswordFd: Int32?

    var pin: PINOptions {
        var options = PINOptions()
        options.places.descriptor = toPinFd
        options.places.own = "give its PIN with --to-pin-fd N"
        return options
    }

    var managementKey: ManagementKeyOptions {
        var options = ManagementKeyOptions()
        options.places.descriptor = toManagementKeyFd
        options.places.own = "give its management key with --to-management-key-fd N"
        return options
    }

    var password: PasswordOptions {
        var options = PasswordOptions()
        options.places.descriptor = toPasswordFd
        return options
    }

    /// Returns the options for sealing the store with that key.
    func storeKey(_ key: StoreKeyOptions) -> StoreKeyOptions {
        var options = StoreKeyOptions()
        options.software = key.software
        options.passphrase = key.passphrase
        options.keyPIN.descriptor = toFidoPinFd
        options.keyPIN.own = "give its FIDO2 PIN with --to-fido-pin-fd N"
        options.slotPIN = pin
        return options
    }
}
