// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Glibc
package import TerminalIO
package import Verbs
package import YKCrypto
import YKHardware
import YKInteraction
package import YKPIV
package import YKStore

/// A kind of store.
package struct StoreKind: Sendable {
    /// The group of its verbs, which is also the name of its default file.
    package let service: String
    /// Its name in sentences.
    let name: String
    /// The name of its records.
    let record: String
    /// What it holds, if that must be explained.
    let contents: String

    package init(_ service: String, _ name: String, of record: String, contents: String = "") {
        (self.service, self.name, self.record, self.contents) = (service, name, record, contents)
    }
}

/// The location of a store.
package protocol StoreOptions: ParsableArguments, SendableMetatype {
    static var kind: StoreKind { get }
    /// The file, if it is not the default one.
    var store: String? { get }
}

extension StoreOptions {
    package static var title: String { "Store Options" }

    /// Returns the store's file; creates the folder of the default one.
    package func file(_ run: Run) throws -> StoreFile {
        let service = Self.kind.service
        let file = try StoreFile(store ?? UserFolder.store(service, run), service: service)
        if file.isExposed {
            run.terminal.warn("file-mode", "other users can read \(file.path.printable); run: chmod 600 on it")
        }
        return file
    }
}

extension UserFolder {
    /// Returns the default file of a store; creates its folder.
    package static func store(_ service: String, _ run: Run) throws(Explanation) -> String {
        let folder = try UserFolder.data.required(run.stage.variables)
        UserFolder.make(folder)
        return "\(folder)/\(service).json"
    }
}

package enum StoreKeyPIN: SecretKind {
    package static let name = SecretName("key-pin", "security key's PIN", "YKIT_PIN")
}

package enum StorePassphrase: SecretKind {
    package static let name = SecretName("passphrase", "store's passphrase", "YKIT_STORE_PASSPHRASE")
}

/// The options of the sealing key.
package struct StoreKeyOptions: ParsableArguments {
    package static let title = "Store Options"

    @OptionGroup package var keyPIN: SecretOptions<StoreKeyPIN>

    @Flag(
        "--software",
        help: "Use a passphrase or the keyring instead of a security key: the store is only as safe as that.")
    package var software = false

    @OptionGroup package var passphrase: SecretOptions<StorePassphrase>

    /// The PIN options of PIV, for verbs that have their own options for it.
    package var slotPIN: PINOptions?

    package init() {}

    /// The PIN options of the security key, in their common form.
    package var pin: PINOptions { PINOptions(keyPIN) }

    /// Returns the passphrase, given or asked for; a new one is asked for twice.
    package func passphrase(isNew: Bool, _ run: Run) throws -> Secret {
        if let given = try passphrase.source.given(run.terminal) {
            guard !given.value.isEmpty else { throw Explanation.usage("an empty passphrase protects nothing") }
            return given.value.copy()
        }
        let question = isNew ? "new passphrase of the store" : "passphrase of the store"
        return try run.terminal.secret(question, isNew: isNew, orElse: passphrase.source.hint).value.copy()
    }
}

/// The options for a new key of the store.
package struct NewStoreKeyOptions: ParsableArguments {
    package static let title = "Store Options"

    @Option("--slot", help: "Seal with the RSA or P-256 key in this PIV slot.") package var slot: PIVSlot?

    @Flag("--discoverable", help: "Store the credential on the key, so that 'reset' can delete it there.")
    package var discoverable = false

    @Flag(
        "--keyring",
        help: "With --software: keep the store's key in the keyring of the desktop session (Secret Service).")
    package var keyring = false

    @Option("--key-name <name>", help: "A name for the key in lists.") var keyName: String?

    package init() {}

    /// Refuses options that are mutually exclusive.
    package func check(_ key: StoreKeyOptions) throws {
        if keyring, !key.software { throw UsageError("--keyring needs --software: it is not a security key") }
        if key.software, slot != nil || discoverable {
            throw UsageError("--software cannot be combined with --slot or --discoverable")
        }
    }
}
