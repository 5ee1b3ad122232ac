// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import Verbs
import YKCrypto
import YKHardware
package import YKKeys
import YKStore
import YKTransport

extension Run {
    /// The keyring of this computer; `YKIT_KEYRING` overrides the choice. A replay reads and stores nothing, so that it
    /// has no effect on this computer.
    package func keyring() throws(Explanation) -> any Keyring {
        if options.replay != nil { return ReplayedKeyring() }
        do throws(KeyringError) {
            let cancellation = environment.cancellation
            switch variable("YKIT_KEYRING") ?? "" {
            case "": return try Keyrings.standard(cancellation: cancellation)
            case "file": return try FileKeyring.standard(cancellation: cancellation)
            case "secret-service":
                guard let service = SecretService(cancellation: cancellation) else { throw .noSecretService }
                return service
            default: break
            }
        } catch { throw Explanation(error) }
        throw .usage("YKIT_KEYRING is '\(variable("YKIT_KEYRING") ?? "")', expected file or secret-service")
    }

    /// The keyring of the desktop session for stores; `nil` without one.
    package var storeKeyring: StoreKeyring? {
        SecretService(cancellation: environment.cancellation).map { StoreKeyring($0) }
    }

    /// Seals a store's key with a new secret in the keyring; a plan stores nothing.
    func sealInKeyring(_ key: StoreKey, name: String) throws -> StoreSeal {
        guard let keyring = storeKeyring else {
            throw Concerning(.instead("omit --keyring to use a passphrase"), KeyringError.noSecretService)
        }
        terminal.warn(
            "keyring-only",
            "the store is sealed with the keyring of this session only: every program of the session can open it")
        guard plan == nil else {
            return try StoreSeal.secretService(key, name: name, added: now, environment.random).seal
        }
        do { return try keyring.seal(key, name: name, added: now, environment.random) } catch let error as KeyringError
        {
            throw Concerning(.instead("use a passphrase"), error)
        }
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
