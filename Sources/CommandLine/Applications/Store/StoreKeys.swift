// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
package import Verbs
import YKKeys
package import YKStore
import YKTransport

/// The key that opens the store when another one is added.
package struct PresentStoreKeyOptions: ParsableArguments {
    package static let title = "Store Options"

    @Option(
        "--from <key>",
        help: "The key that opens the store now: a serial number, or the state file of a virtual key."
    )
    package var from: String?

    @Option(
        "--from-pin-fd <n>",
        help:
            "Read the PIN of the --from key from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL, or YKIT_PIV_PIN_SERIAL for a PIV slot."
    )
    var fromPinFd: Int32?

    @Flag("--from-passphrase", help: "The store is now opened by a passphrase, or by a key in the keyring.")
    var fromPassphrase = false

    package init() {}

    /// Returns the run with that key; a recording covers the key that is added.
    func opener(_ run: Run) throws -> Run {
        guard let from, !fromPassphrase else { return run }
        return try run.besides(from)
    }

    /// Returns the options of that key: the PIN of one key is not that of another.
    package func options(_ key: StoreKeyOptions) -> StoreKeyOptions {
        var options = key
        options.software = fromPassphrase
        guard from != nil, !fromPassphrase else { return options }
        options.keyPIN = SecretOptions()
        options.keyPIN.descriptor = fromPinFd
        return options
    }
}

/// The keys that open a store.
package struct StoreContents: Report {
    let path: String
    let keys: [StoreSeal]
    /// The number of records in the store.
    package let records: Int

    package static let members: [Member<StoreContents>] = [
        Member("store") { $0.path },
        Member("keys") { $0.keys },
    ]

    package init(_ file: StoreFile) throws {
        let store = try file.read()
        (path, keys, records) = (file.path, store.seals, store.records.count)
    }

    /// The lines.
    ///
    /// - Parameters:
    ///   - record: The name of the store's records.
    package func lines(_ record: String) -> [String] {
        let counts =
            "\(records) \(record)\(records == 1 ? "" : "s"), \(keys.count) key\(keys.count == 1 ? "" : "s")"
        let rows = keys.map { seal in
            var use = seal.kind
            if let credential = seal.credential {
                use += credential.isVerified ? ", PIN or fingerprint" : ", touch only"
            }
            if let slot = seal.slot { use += " slot \(slot)" }
            return [seal.id, seal.name.printable, use, "added \(Day.text(seal.added))"]
        }
        return ["\(path.printable): \(counts)"] + Table.lines(rows)
    }
}

/// A key that was added to a store.
package struct AddedStoreKey: Report {
    let seal: StoreSeal
    let keys: Int

    package static let members: [Member<AddedStoreKey>] = [
        Member("id") { $0.seal.id },
        Member("kind") { $0.seal.kind },
        Member("keyCount", "how many open the store") { $0.keys },
    ]
}

/// A key that was removed from a store.
package struct RemovedStoreKey: Report {
    let id: String
    let keys: Int

    package static let members: [Member<RemovedStoreKey>] = [
        Member("id") { $0.id },
        Member("keyCount", "how many are left") { $0.keys },
    ]
}

/// Shared code of the commands for store keys.
package enum StoreKeys {
    /// Adds a key to a store; a store without keys gets its first one.
    ///
    /// - Parameters:
    ///   - name: The name of the store, for prompts.
    package static func add(
        _ newKey: NewStoreKeyOptions, _ key: StoreKeyOptions, _ present: PresentStoreKeyOptions, to file: StoreFile,
        _ name: String, _ run: Run
    ) async throws -> Outcome<AddedStoreKey> {
        let store = try file.read()
        let storeKey: StoreKey
        if store.seals.isEmpty {
            storeKey = try StoreKey(run.environment.random)
        } else {
            storeKey = try await present.opener(run).open(
                store, present.options(key), for: "open the \(name)")
        }
        let seal = try await run.seal(storeKey, key, newKey, besides: store.seals, of: name)
        try run.endPlan("add key '\(seal.name.printable)' to \(file.path.printable)")
        let count = try file.add(seal, to: store)
        return Outcome(
            AddedStoreKey(seal: seal, keys: count), "added \(seal.kind) key '\(seal.name.printable)' (\(seal.id))")
    }

    /// Removes a key from a store.
    package static func remove(
        _ name: EntryQuery, from file: StoreFile, _ confirmation: Confirmation, _ run: Run
    ) throws -> Outcome<RemovedStoreKey> {
        var copy = try file.read()
        let seal = try copy.removeSeal(name.text)
        try confirmation.ask(
            "key '\(seal.name.printable)' (\(seal.id)) would no longer open the store: remove it?", in: run)
        try run.endPlan("remove key '\(seal.name.printable)' from \(file.path.printable)")
        let count = try file.update { store throws(StoreError) -> Int in
            _ = try store.removeSeal(seal.id)
            return store.seals.count
        }
        _ = try run.storeKeyring?.forget([seal])
        return Outcome(RemovedStoreKey(id: seal.id, keys: count), "removed key \(seal.id)")
    }
}
