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
    var from: String?

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
    func options(_ key: StoreKeyOptions) -> StoreKeyOptions {
        var options = key
        options.software = fromPassphrase
        guard from != nil, !fromPassphrase else { return options }
        options.keyPIN = SecretOptions()
        options.keyPIN.descriptor = fromPinFd
        return options
    }
}

/// The keys that open a store.
package struct StoreContents<Options: StoreOptions>: Report {
    let path: String
    let keys: [StoreSeal]
    /// The number of records in the store.
    let records: Int

    package static var members: [Member<Self>] {
        [
            Member("store") { $0.path }, Member("keys") { $0.keys },
            Member("\(Options.kind.record)Count") { $0.records },
        ]
    }

    var lines: [String] {
        let record = Options.kind.record
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

/// Shows the keys of a store.
package struct StoreInfo<Options: StoreOptions>: Verb {
    package static var uses: GlobalUse { [] }
    package static var about: About {
        About(
            "Show which keys open the \(Options.kind.name).",
            examples: [Example("ykit \(Options.kind.service) store info")])
    }

    @OptionGroup var path: Options

    package init() {}

    package func run(in run: Run) async throws -> Outcome<StoreContents<Options>> {
        let file = try path.file(run)
        let store = try file.read()
        let contents = StoreContents<Options>(path: file.path, keys: store.seals, records: store.records.count)
        return Outcome(contents, contents.lines)
    }
}

/// Adds a key to a store; a store without keys gets its first one.
package struct StoreAddKey<Options: StoreOptions>: Verb {
    package static var about: About {
        About(
            "Let another key open the \(Options.kind.name), as a spare.",
            discussion: """
                \(Options.kind.contents)The store is opened with one of its keys, then sealed for the new one. If only \
                one key can be attached at a time, --from names the state file of a virtual key, or the serial number \
                of the key that opens the store; without it the selected key opens the store, and ykit asks for the \
                new one.
                """,
            examples: [Example("ykit \(Options.kind.service) store add-key")])
    }
    package static var answer: Shape<(seal: StoreSeal, keys: Int)> {
        Shape(
            Member("id") { $0.seal.id }, Member("kind") { $0.seal.kind },
            Member("keyCount", "how many open the store") { $0.keys })
    }

    @OptionGroup var path: Options
    @OptionGroup var key: StoreKeyOptions
    @OptionGroup var newKey: NewStoreKeyOptions
    @OptionGroup var present: PresentStoreKeyOptions

    package init() {}

    package func check() throws { try newKey.check(key) }

    package func run(in run: Run) async throws -> Outcome<(seal: StoreSeal, keys: Int)> {
        let (file, name) = (try path.file(run), Options.kind.name)
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
            (seal: seal, keys: count), "added \(seal.kind) key '\(seal.name.printable)' (\(seal.id))")
    }
}

/// Removes a key from a store.
package struct StoreRemoveKey<Options: StoreOptions>: Verb {
    package static var about: About {
        About(
            "Revoke a key's access to the \(Options.kind.name).",
            discussion: """
                The key is not needed. It can still open older copies of the file, unless it is in the keyring of this \
                session, where it is deleted.
                """,
            examples: [Example("ykit \(Options.kind.service) store remove-key spare")])
    }
    package static var answer: Shape<(id: String, keys: Int)> {
        Shape(Member("id") { $0.id }, Member("keyCount", "how many are left") { $0.keys })
    }

    @Argument("name", help: "The key's identifier or name, as 'store info' shows it.") var name: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var path: Options

    package init() {}

    package func run(in run: Run) async throws -> Outcome<(id: String, keys: Int)> {
        let file = try path.file(run)
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
        return Outcome((id: seal.id, keys: count), "removed key \(seal.id)")
    }
}
