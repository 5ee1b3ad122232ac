// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKStore
import YKTransport
import YKWire

/// Shows the keys of the store.
struct SecurIDStoreShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show which keys open the store.")
    static let members = ["store", "keys", "tokens"]

    @OptionGroup(title: "Store Options")
    var path: StorePathOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let file = try path.file(world)
        let store = try file.read()
        let (tokens, keys) = (store.records.count, store.seals.count)
        let counts = "\(tokens) token\(tokens == 1 ? "" : "s"), \(keys) key\(keys == 1 ? "" : "s")"
        let rows = store.seals.map { seal in
            var use = seal.kind
            if case .fido(_, _, let isVerified, _) = seal.means {
                use += isVerified ? ", PIN or fingerprint" : ", touch only"
            }
            if let slot = seal.slot { use += " slot \(slot)" }
            return [seal.id, seal.name.printable, use, "added \(Day.text(seal.added))"]
        }
        return Answer(
            ["\(file.path.printable): \(counts)"] + Table.lines(rows),
            [
                "store": .string(file.path), "keys": .array(store.seals.map(\.listed)),
                "tokens": .int(Int64(store.records.count)),
            ])
    }
}

/// Adds a key to the store.
struct SecurIDStoreAddKey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add-key", abstract: "Let another key open the store, as a spare.",
        discussion: """
            The store is opened with a key that opens it already, then sealed for the new one. With one key at a time: \
            --from names the state file of a software key, or the serial number of the key that opens the store; without \
            it the key in use opens the store, and the new one is asked for.
            """)
    static let members = ["id", "kind", "keys"]

    @OptionGroup(title: "Store Options")
    var path: StorePathOptions

    @OptionGroup(title: "Store Options")
    var key: StoreKeyOptions

    @OptionGroup(title: "Store Options")
    var newKey: NewStoreKeyOptions

    @Option(
        help: ArgumentHelp(
            "The key that opens the store now: a serial number, or the state file of a software key.", valueName: "key")
    )
    var from: String?

    @Flag(help: "The key that opens the store now is its passphrase, or in the keyring.")
    var fromPassphrase = false

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func validate() throws { try newKey.check(key) }

    func answer(in world: World) async throws -> Answer {
        let file = try path.file(world)
        let store = try file.read()
        let storeKey: StoreKey
        if store.seals.isEmpty {
            storeKey = try StoreKey(world.environment.random)
        } else {
            var opening = key
            opening.software = fromPassphrase
            storeKey = try await opener(world).open(store, opening, for: "open the token store")
        }
        let seal = try await world.seal(storeKey, key, newKey, besides: store.seals)
        guard world.plan == nil else { return Answer() }
        let count = try file.update { current throws(StoreError) -> Int in
            guard current.seals == store.seals else { throw .inUse(path: file.path) }
            current.add(seal)
            return current.seals.count
        }
        return Answer(
            "added \(seal.kind) key '\(seal.name.printable)' (\(seal.id))",
            ["id": .string(seal.id), "kind": .string(seal.kind), "keys": .int(Int64(count))])
    }

    /// The world of the key that opens the store now.
    private func opener(_ world: World) throws -> World {
        guard let from, !fromPassphrase else { return world }
        var options = global
        if Files.isFile(from) {
            options.virtual = from
            (options.device, options.reader, options.path) = (nil, nil, nil)
        } else {
            options.virtual = nil
            options.device = from
        }
        return try World(options, world.terminal)
    }
}

/// Removes a key from the store.
struct SecurIDStoreRemoveKey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "remove-key", abstract: "Take a key's access to the store away.",
        discussion: """
            The key is not needed. It still opens copies of the file that were made before, except a key in the keyring of \
            this session, which is deleted there.
            """)
    static let members = ["id", "keys"]

    @Argument(help: "The key's identifier or name, as 'store info' shows it.")
    var name: String

    @OptionGroup var confirmation: Confirmation

    @OptionGroup(title: "Store Options")
    var path: StorePathOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let file = try path.file(world)
        var copy = try file.read()
        let seal = try copy.removeSeal(name)
        try confirmation.ask("remove key '\(seal.name.printable)' (\(seal.id)) from the store?", in: world)
        guard world.plan == nil else { return Answer() }
        let count = try file.update { store throws(StoreError) -> Int in
            _ = try store.removeSeal(seal.id)
            return store.seals.count
        }
        _ = try StoreKeyring.forget([seal])
        return Answer("removed key \(seal.id)", ["id": .string(seal.id), "keys": .int(Int64(count))])
    }
}
