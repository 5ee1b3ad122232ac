// SPDX-License-Identifier: Apache-2.0

package import Arguments
import YKKeys
package import YKStore
import YKTransport
import YKWire

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
            "Read the PIN of the key of --from from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL, or YKIT_PIV_PIN_SERIAL for a PIV slot."
    )
    var fromPinFd: Int32?

    @Flag("--from-passphrase", help: "The key that opens the store now is its passphrase, or in the keyring.")
    var fromPassphrase = false

    package init() {}

    /// Returns the world of that key; a recording covers the key that is added.
    func opener(_ world: World) throws -> World {
        guard let from, !fromPassphrase else { return world }
        return try world.besides(from)
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

/// Shared code of the commands for store keys.
package enum StoreKeys {
    /// Returns the keys that open a store.
    ///
    /// - Parameters:
    ///   - record: The name of the store's records.
    package static func info(_ file: StoreFile, _ record: String) throws -> Answer {
        let store = try file.read()
        let (records, keys) = (store.records.count, store.seals.count)
        let counts = "\(records) \(record)\(records == 1 ? "" : "s"), \(keys) key\(keys == 1 ? "" : "s")"
        let rows = store.seals.map { seal in
            var use = seal.kind
            if case .fido(_, _, let isVerified, _) = seal.means {
                use += isVerified ? ", PIN or fingerprint" : ", touch only"
            }
            if let slot = seal.slot { use += " slot \(slot)" }
            return [seal.id, seal.name.printable, use, "added \(Day.text(seal.added))"]
        }
        var answer = Answer(
            ["\(file.path.printable): \(counts)"] + Table.lines(rows),
            ["store": .string(file.path), "keys": .array(store.seals.map(\.listed))])
        answer.members["\(record)s"] = .int(Int64(records))
        return answer
    }

    /// Adds a key to a store; a store without keys gets its first one.
    ///
    /// - Parameters:
    ///   - name: The name of the store, for prompts.
    package static func add(
        _ newKey: NewStoreKeyOptions, _ key: StoreKeyOptions, _ present: PresentStoreKeyOptions, to file: StoreFile,
        _ name: String, _ world: World
    ) async throws -> Answer {
        let store = try file.read()
        let storeKey: StoreKey
        if store.seals.isEmpty {
            storeKey = try StoreKey(world.environment.random)
        } else {
            storeKey = try await present.opener(world).open(
                store, present.options(key), for: "open the \(name)")
        }
        let seal = try await world.seal(storeKey, key, newKey, besides: store.seals, of: name)
        guard world.plan == nil else { return Answer() }
        let count = try file.add(seal, to: store)
        return Answer(
            "added \(seal.kind) key '\(seal.name.printable)' (\(seal.id))",
            ["id": .string(seal.id), "kind": .string(seal.kind), "keys": .int(Int64(count))])
    }

    /// Removes a key from a store.
    package static func remove(
        _ name: String, from file: StoreFile, _ confirmation: Confirmation, _ world: World
    ) throws -> Answer {
        var copy = try file.read()
        let seal = try copy.removeSeal(name)
        try confirmation.ask("remove key '\(seal.name.printable)' (\(seal.id)) from the store?", in: world)
        guard world.plan == nil else { return Answer() }
        let count = try file.update { store throws(StoreError) -> Int in
            _ = try store.removeSeal(seal.id)
            return store.seals.count
        }
        _ = try world.storeKeyring?.forget([seal])
        return Answer("removed key \(seal.id)", ["id": .string(seal.id), "keys": .int(Int64(count))])
    }
}
