// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKKeys
import YKOATH

extension World {
    /// Opens and unlocks the OATH application of the selected key, or of one of other keys.
    func oath(_ password: PasswordOptions, of keys: Keys? = nil) async throws -> OATHService {
        let service = try await openOATH(of: keys)
        try await unlock(service, password, of: keys)
        return service
    }

    /// Opens the OATH application without unlocking it.
    func openOATH(of keys: Keys? = nil) async throws -> OATHService {
        try await OATHService.open(try connect(of: keys))
    }

    /// Unlocks with the given password, else with the one remembered for this key, else asks.
    ///
    /// - Parameter keys: The other key, in a verb with several: the given password is not for it.
    func unlock(_ service: OATHService, _ options: PasswordOptions, of keys: Keys? = nil) async throws {
        let info = await service.info
        guard info.isLocked else { return }
        let other = keys?.selection.serial ?? otherKey
        var source = ofThisKey(options.source, key: other)
        if keys != nil { source = SecretInput.Source(variable: source.variables[0], hint: "") }
        switch try SecretInput.given(source, terminal) {
        case .secret(let password):
            try await service.unlock(with: try AccessKey(password: password, salt: info.salt))
        case .none:
            if try await unlockRemembered(service, info) { return }
            let password = try passwordPrompt(of: other).secret(
                "password of the OATH accounts" + (other.map { " of key \($0.printable)" } ?? ""))
            try await service.unlock(with: try AccessKey(password: password, salt: info.salt))
        }
    }

    /// Stores the account names for completion, unless a password protects them.
    func remember(_ ids: [OATHAccountID], of service: OATHService) async {
        guard await !service.info.hasPassword else { return }
        remember { $0.accounts = ids.filter { !$0.isHidden }.map { $0.told(among: ids) } }
    }

    private func passwordPrompt(of other: String?) throws -> Prompt {
        do { return try Prompt(orElse: "") } catch {
            guard let other else { throw Explain.passwordNeeded }
            throw Explain.passwordNeeded(of: other)
        }
    }

    /// Tries the key remembered for this device; a wrong one is reported and not tried again.
    private func unlockRemembered(_ service: OATHService, _ info: OATHInfo) async throws -> Bool {
        if Variables["HOME"] == nil, Variables["XDG_STATE_HOME"] == nil { return false }
        guard let raw = try keyring().key(for: info.deviceID) else { return false }
        do {
            try await service.unlock(with: AccessKey(rawKey: raw))
            return true
        } catch .wrongPassword {
            terminal.warn("the remembered password is no longer right; forget it with 'ykit oath access forget'")
            return false
        }
    }
}
