// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import Verbs
import YKCrypto
package import YKKeys
import YKPIV
package import YKStore
import YKTransport
import YKUse

extension Run {
    /// Returns the key of a store, opened with the security key in use or a passphrase.
    package func open(_ store: SealedStore, _ options: StoreKeyOptions, for reason: String) async throws -> StoreKey {
        guard !store.seals.isEmpty else { throw StoreError.noKeys }
        if options.software { return try openSoftware(store, options) }
        if store.seals.allSatisfy(\.isSoftware) {
            throw Explanation(
                "software-store", .policy,
                "the store is sealed with \(kinds(store)), not with a security key",
                hint: "repeat with --software, or add a security key: ykit \(store.service) store add-key")
        }
        describe(store)
        let hasFIDO = store.seals.contains { $0.kind == "fido2" }
        if hasFIDO {
            do {
                let service = try await openFIDO(options.pin, for: reason)
                return try await StoreAuthenticator(service, environment.random).open(store.seals).0
            } catch let error as StoreError {
                guard error == .notThisKey, store.seals.contains(where: { $0.slot != nil }) else { throw error }
            }
        }
        return try await openPIVStore(store, options, for: reason)
    }

    /// Adds the keys that could open the store to a plan.
    private func describe(_ store: SealedStore) {
        guard let plan else { return }
        for seal in store.seals {
            let words = "open the store with \(seal.kind) key '\(seal.name.printable)' (\(seal.id))"
            plan.add(words)
        }
    }

    private func kinds(_ store: SealedStore) -> String {
        store.seals.contains { $0.item == nil } ? "a passphrase" : "the keyring"
    }

    private func openSoftware(_ store: SealedStore, _ options: StoreKeyOptions) throws -> StoreKey {
        let seals = store.seals.filter(\.isSoftware)
        guard !seals.isEmpty else {
            throw Explanation.usage("only security keys open the store", hint: "repeat without --software")
        }
        let items = seals.filter { $0.item != nil }
        // With a passphrase the keyring is not needed.
        let asksKeyring = !options.passphrase.source.isGiven(terminal) || items.count == seals.count
        if asksKeyring, let key = try storeKeyring?.open(items) { return key }
        guard seals.count > items.count else { throw keyringFailure }
        let passphrase = SharedSecret(try options.passphrase(isNew: false, self))
        for seal in seals where seal.item == nil {
            let opened = WorkBeside.result(unless: environment.cancellation) { () -> Result<StoreKey, StoreError> in
                do throws(StoreError) { return .success(try seal.open(passphrase: passphrase.value)) } catch {
                    return .failure(error)
                }
            }
            guard let opened else { throw Explanation.interrupted }
            do { return try opened.get() } catch {
                guard error == .wrongPassphrase else { throw error }
            }
        }
        throw StoreError.wrongPassphrase
    }

    private func openPIVStore(
        _ store: SealedStore, _ options: StoreKeyOptions, for reason: String
    ) async throws -> StoreKey {
        let service = try await openPIV()
        let unlocking = piv(service, options.slotPIN ?? options.pin)
        for seal in store.seals {
            guard let slot = seal.slot, let key = try await unlessRefused({ try await service.publicKey(slot) }),
                seal.isSealed(for: key)
            else { continue }
            let isRSA = if case .pivRSA = seal.means { true } else { false }
            let use = try await unlocking.prepare(slot, nil, isRSA ? .decrypt : .derive, for: reason)
            return try await use.touching(person) { try await seal.open(service, use.algorithm) }
        }
        throw StoreError.notThisKey
    }

    /// Seals a store's key for another key, and explains the consequences.
    ///
    /// - Parameters:
    ///   - what: The name of the store, for prompts.
    package func seal(
        _ key: StoreKey, _ options: StoreKeyOptions, _ new: NewStoreKeyOptions, besides known: [StoreSeal],
        of what: String
    ) async throws -> StoreSeal {
        let random = environment.random
        if options.software, new.keyring {
            return try sealInKeyring(key, name: new.keyName ?? "keyring")
        }
        if options.software {
            terminal.warn(
                "passphrase-only",
                "the store is sealed with a passphrase only: anyone who copies the file can try to guess it")
            let passphrase = try options.passphrase(isNew: true, self)
            return try StoreSeal.passphrase(key, passphrase, name: new.keyName ?? "software", added: now, random)
        }
        if let slot = new.slot {
            let service = try await openPIV()
            let publicKey = try await service.publicKey(slot)
            if let seal = known.first(where: { $0.isSealed(for: publicKey) }) {
                throw StoreError.duplicateKey(seal.name)
            }
            return try StoreSeal.piv(
                key, slot, publicKey, name: new.keyName ?? "PIV slot \(slot)", added: now, random)
        }
        let service = try await openFIDO(options.pin, for: "seal the \(what)")
        announce("a credential that seals the \(what)")
        let seal = try await StoreAuthenticator(service, random).seal(
            key, name: new.keyName ?? "security key", isDiscoverable: new.discoverable, added: now, besides: known)
        if case .fido(_, _, false, _) = seal.means {
            terminal.warn("no-pin", "the key has no PIN: anyone who has it and the file can open the store")
        }
        return seal
    }
}

extension StoreSeal: Report {
    package static let members: [Member<StoreSeal>] =
        [
            Member("id") { $0.id },
            Member("name") { $0.name },
            Member("kind") { $0.kind },
        ] + time("added") { $0.added } + [
            Member("userVerification") { $0.credential?.isVerified },
            Member("discoverable") { $0.credential?.isDiscoverable },
            Member("slot") { $0.slot?.description },
            Member("software") { $0.isSoftware },
        ]

    /// How the FIDO2 credential is used; `nil` for keys of other kinds.
    var credential: (isVerified: Bool, isDiscoverable: Bool)? {
        guard case .fido(_, _, let isVerified, let isDiscoverable) = means else { return nil }
        return (isVerified, isDiscoverable)
    }
}

extension Run {
    /// The keyring of this computer; `YKIT_KEYRING` overrides the choice. A replay reads and stores nothing, so that it
    /// has no effect on this computer.
    package func keyring() throws -> any Keyring {
        if options.replay != nil { return ReplayedKeyring() }
        let cancellation = environment.cancellation
        switch variable("YKIT_KEYRING") ?? "" {
        case "": return try Keyrings.standard(cancellation, variable)
        case "file": return try FileKeyring(cancellation, variable)
        case "secret-service":
            guard let service = SecretService(cancellation, variable) else { throw KeyringError.noSecretService }
            return service
        case let other: throw Explanation.usage("YKIT_KEYRING is '\(other)', expected file or secret-service")
        }
    }

    /// The keyring of the desktop session for stores; `nil` without one.
    package var storeKeyring: StoreKeyring? {
        SecretService(environment.cancellation, variable).map { StoreKeyring($0) }
    }

    /// Seals a store's key with a new secret in the keyring; a plan stores nothing.
    func sealInKeyring(_ key: StoreKey, name: String) throws -> StoreSeal {
        guard let keyring = storeKeyring else {
            throw Concerning(.instead("omit --keyring to use a passphrase"), KeyringError.noSecretService)
        }
        terminal.warn(
            "keyring-only",
            "the store is sealed with the keyring of this session only: every program of the session can open it")
        do {
            return try perform { try keyring.seal(key, name: name, added: now, environment.random) }
                ?? StoreSeal.secretService(key, name: name, added: now, environment.random).seal
        } catch let error as KeyringError { throw Concerning(.instead("use a passphrase"), error) }
    }

    /// Explains why the keyring did not open a store.
    var keyringFailure: Explanation {
        guard storeKeyring != nil else {
            return Explanation(
                Concerning(.instead("use the session that created the store"), KeyringError.noSecretService))
        }
        return Explanation(
            "keyring", .authentication, "the keyring of this session does not have the store's key",
            hint: "unlock it, or use the session that created the store")
    }
}

/// The keyring of a replay: always empty.
private struct ReplayedKeyring: Keyring {
    let place = "a replay, which keeps nothing"

    func key(for device: String) -> Secret? { nil }
    func remember(_ key: borrowing Secret, for device: String) {}
    func forget(_ device: String) -> Bool { false }
    func forgetAll() -> Int? { 0 }
}
