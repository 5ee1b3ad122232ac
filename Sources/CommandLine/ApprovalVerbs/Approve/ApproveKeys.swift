// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKFIDO
import YKHTTP
import YKKeys
import YKPIV
import YKProtocols
import YKStore
import YKTransport
import YKUse
import YKWire

enum AccountKeyPIN: SecretKind {
    static let name = SecretName("pin", "security key's PIN", "YKIT_PIN")
}

/// A verb that uses an account's key in PIV; the store and proofs may also need the FIDO2 PIN.
protocol AccountKeyVerb: Verb {}

extension AccountKeyVerb {
    var ownPIN: CredentialKind? { .pivPIN }
}

/// The secrets that unlock an account's key: the PIN of the security key, or the passphrase of a store with software
/// keys.
struct ApproveKeyOptions: ParsableArguments {
    static let title = "Key Options"

    @OptionGroup var keyPIN: SecretOptions<AccountKeyPIN>

    @Option(
        "--fido-pin-fd <n>",
        help:
            "Read the PIN of the FIDO2 application, for accounts with --require uv and stores sealed by FIDO2, from "
            + "this open file descriptor; or set YKIT_FIDO_PIN.")
    var fidoPinFd: Int32?

    @OptionGroup var passphrase: SecretOptions<StorePassphrase>

    /// The PIN options of the PIV application.
    var pin: PINOptions { PINOptions(keyPIN) }

    /// The PIN options of the FIDO2 application.
    var fidoPIN: PINOptions {
        var options = PINOptions()
        options.places.descriptor = fidoPinFd
        options.places.own = "give the FIDO2 PIN with --fido-pin-fd N or YKIT_FIDO_PIN"
        return options
    }

    /// Returns the options of the store's keys.
    ///
    /// - Parameter software: Whether a passphrase or the keyring opens the store.
    func storeKey(software: Bool) throws -> StoreKeyOptions {
        var options = StoreKeyOptions()
        options.keyPIN.descriptor = fidoPinFd
        options.slotPIN = pin
        options.passphrase = passphrase
        options.software = software
        return options
    }
}

/// The keys of accounts: each security key is opened once.
final class ApproveKeys: ApprovalKeyring {
    let run: Run
    private let options: ApproveKeyOptions
    private let book: AccountStore
    private let cards: CardSession
    private var storeKey: StoreKey?

    init(_ run: Run, _ book: AccountStore, _ options: ApproveKeyOptions) {
        (self.run, self.book, self.options) = (run, book, options)
        cards = CardSession { serial in
            let key = run.key(of: serial)
            let service = try await run.openPIV(of: key)
            let unlocking = run.piv(service, options.pin, key: serial.map { String($0) })
            // A key that was looked up by its serial number is the one that is meant; the chosen one may be another.
            let isChosen = serial != nil && key.serial == run.key.serial
            return CardSession.Card(unlocking, serial: try await isChosen ? service.serial() ?? serial : serial)
        }
    }

    /// Returns the key of an account, after checking that it is the enrolled one.
    func key(of account: PushAccount) async throws -> ApproveKey {
        guard case .piv(let place) = account.place else {
            run.terminal.warn(
                "key-in-software", "the key of account '\(account.account.name.printable)' is in software")
            return ApproveKey(self, account, try await softwareKey(account))
        }
        try await use(place, account) { card in
            try await PIVApprovalKey.check(card.service, place.slot, account.publicKey)
        }
        return ApproveKey(self, account, nil)
    }

    /// Signs with the key in a slot, after PIN and touch.
    func sign(_ text: [UInt8], _ account: PushAccount, _ place: PIVKeyPlace) async throws -> [UInt8] {
        try await use(place, account) { card in
            try await card.unlocking.sign(
                text, place.slot, account.publicKey, for: "sign for account '\(account.account.name.printable)'",
                on: hasSeveralKeys ? place.keySerial : nil)
        }
    }

    /// Whether the accounts of the store are on several security keys.
    private var hasSeveralKeys: Bool {
        Set(book.accounts.compactMap { PushAccount($0)?.place.keySerial }).count > 1
    }

    /// Uses the security key of an account, and no other.
    private func use<Value>(
        _ place: PIVKeyPlace, _ account: PushAccount, _ body: (CardSession.Card) async throws -> Value
    ) async throws -> Value {
        try await cards.use(place.keySerial) { card in
            try place.check(card.serial, of: "account '\(account.account.name.printable)'")
            return try await body(card)
        }
    }

    /// Closes the security keys; each is opened again on its next use.
    func close() async { await cards.close() }

    /// Requests FIDO2 user verification on the account's security key.
    func prove(_ proof: UserProof, for open: OpenRequest) async throws {
        // Closes the PIV application first, so that another one can be selected.
        await close()
        let service = try await run.openFIDO(
            options.fidoPIN, for: "approve for account '\(open.account.account.name.printable)'",
            of: run.key(of: open.account.place.keySerial), serial: open.account.place.keySerial.map { String($0) })
        run.terminal.say("touch the key to prove your presence; the approval follows")
        let result: Result<Void, ApprovalError>
        do {
            try await proof.prove(service, Array(open.request.challenge.text.utf8), run.environment.random)
            result = .success(())
        } catch { result = .failure(error) }
        await service.close()
        try result.get()
    }

    /// Replaces an account with a changed one. A record with a software key, which was unsealed to sign, is sealed
    /// again, since the seal authenticates the public data.
    func replace(_ account: ApprovalAccount) throws {
        guard let old = book.content.records.first(where: { $0.id == account.id }) else { return }
        var record = account.record
        if old.hasSecret {
            guard let storeKey else { throw StoreError.noKeys }
            let secret = try storeKey.open(old, service: ApprovalStore.service)
            record = try storeKey.seal(
                secret.value, id: account.id, service: ApprovalStore.service, account.description)
        }
        let made = record
        try book.file.update { store throws(StoreError) in
            guard store.seals == book.content.seals else { throw .file(.inUse(path: book.file.path)) }
            store.put(made)
        }
    }

    private func softwareKey(_ account: PushAccount) async throws -> SoftwareApprovalKey {
        guard let record = book.content.records.first(where: { $0.id == account.account.id }) else {
            throw ApprovalError.possession
        }
        if storeKey == nil {
            let options = try options.storeKey(software: book.content.seals.contains { $0.isSoftware })
            storeKey = try await run.open(book.content, options, for: "open the account store")
        }
        guard let storeKey else { throw StoreError.noKeys }
        let key = try SoftwareApprovalKey(der: try storeKey.open(record, service: ApprovalStore.service).value)
        guard key.publicKey == account.publicKey else { throw ApprovalError.possession }
        return key
    }
}

/// The key of an account, with prompts on the command line.
struct ApproveKey: ApprovalKey {
    private let keys: ApproveKeys
    private let account: PushAccount
    private let software: SoftwareApprovalKey?

    init(_ keys: ApproveKeys, _ account: PushAccount, _ software: SoftwareApprovalKey?) {
        (self.keys, self.account, self.software) = (keys, account, software)
    }

    var publicKey: PublicKey { account.publicKey }

    func sign(_ text: [UInt8]) async throws -> [UInt8] {
        if let software { return try await software.sign(text) }
        guard case .piv(let place) = account.place else { throw ApprovalError.possession }
        return try await keys.sign(text, account, place)
    }
}

extension ServerTrustOptions {
    /// Returns how to authenticate an account's server; the path of the CA file is made absolute because it is stored.
    func trust(forAccountIn run: Run) throws -> HTTPTrust {
        var kept = self
        kept.ca = ca.map(Files.absolute)
        return try kept.trust(run, risk: "take part")
    }
}

enum UserPassword: SecretKind {
    static let name = SecretName(
        "password", "user's password or registration code", "YKIT_APPROVE_PASSWORD")
}

/// The user's name and password at the server, for operations that devices are not permitted to do.
struct ApproveUserOptions: ParsableArguments {
    static let title = "Server Options"

    @Option("--user <name>", help: "Sign in at the server as this user.") var user: String?

    @OptionGroup var secret: SecretOptions<UserPassword>

    /// Returns the password, given or asked for.
    func password(_ run: Run) throws -> SharedSecret {
        if let given = try secret.source.given(run.terminal) { return given }
        return try run.terminal.secret(
            "password or registration code of \((user ?? "").printable)", objection: "it must not be empty",
            orElse: UserPassword.name.hint)
    }
}

extension Run {
    /// Returns the client that enrolls accounts and answers requests.
    func approver() throws -> Approver {
        var approver = Approver(try http(), environment)
        approver.timeout = environment.timeout
        return approver
    }
}
