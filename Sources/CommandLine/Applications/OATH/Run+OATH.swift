// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import Verbs
import YKCrypto
import YKInteraction
package import YKKeys
package import YKOATH
import YKProtocols
import YKWire

extension Run {
    /// Opens and unlocks the OATH application of the selected key, or of one of other keys.
    package func oath(_ password: PasswordOptions, of key: Key? = nil) async throws -> OATHService {
        let service = try await open(OATHService.self, of: key)
        try await unlock(service, password, of: key)
        return service
    }

    /// Unlocks with the given password, else with the one remembered for this key, else asks.
    ///
    /// - Parameter key: The other key, in a verb with several: the given password is not for it.
    package func unlock(_ service: OATHService, _ options: PasswordOptions, of key: Key? = nil) async throws {
        let info = await service.info
        guard info.isLocked else { return }
        let other = key?.serial ?? otherKey
        var source = ofThisKey(options.source, key: other)
        if key != nil { source = SecretInput.Source(variable: source.variables[0], hint: "") }
        let question = TerminalQuestion(
            asking: "password of the OATH accounts" + (other.map { " of key \($0.printable)" } ?? ""), orElse: "")
        let given = CommandLineCredential(.oathPassword, source, question, terminal)
        if !source.isGiven(terminal), try await unlockRemembered(service, info) { return }
        // A plan unlocks a locked application as well, in order to read it.
        let asked = WordedCredentials(person, questions: [.oathPassword: question])
        do {
            try await credentials.asking([given], person: asked).use(
                CredentialRequest(CredentialID(.oathPassword, key: other), to: "unlock the accounts", allowsEmpty: true)
            ) { password in
                try await service.unlock(with: try AccessKey(password: password, salt: info.salt))
            }
        } catch let unanswered as Unanswered where unanswered.reason == .nobodyToAsk {
            throw other.map(Self.passwordNeeded) ?? OATHError.locked
        }
    }

    /// Stores the account names for completion, unless a password protects them.
    package func remember(_ ids: [OATHAccountID], of service: OATHService) async {
        guard await !service.info.hasPassword else { return }
        remember { $0.accounts = ids.filter { !$0.isHidden }.map { $0.displayName(among: ids) } }
    }

    /// Tries the key remembered for this device; a wrong one is reported and not retried.
    private func unlockRemembered(_ service: OATHService, _ info: OATHInfo) async throws -> Bool {
        if variable("HOME") == nil, variable("XDG_STATE_HOME") == nil { return false }
        guard let raw = try keyring().key(for: info.deviceID) else { return false }
        do {
            try await service.unlock(with: AccessKey(rawKey: raw))
            return true
        } catch .wrongPassword {
            terminal.warn(
                "wrong-remembered-password",
                "the remembered password is no longer correct; forget it with 'ykit oath access forget'")
            return false
        }
    }

    private static func passwordNeeded(of key: String) -> any Error {
        Explanation(
            "password-needed", .authentication, "the accounts of key \(key.printable) are locked with a password",
            hint: "set YKIT_OATH_PASSWORD_\(key.printable), or store it with 'ykit --device \(key.printable) "
                + "oath access remember'")
    }
}

extension OATHAccountID: ListedEntry {
    package static var choice: String { "which account?" }

    package static func unknown(_ query: EntryQuery) -> any Error {
        Explanation(
            "no-such-account", .notFound, "no account matches '\(query.printable)'", hint: "ykit oath list")
    }

    package static func several(_ query: EntryQuery, _ found: [OATHAccountID]) -> Explanation {
        several("\(found.count) accounts match '\(query.printable)'", found)
    }

    /// The error for several accounts, where one is needed.
    package static func several(_ message: String, _ found: [OATHAccountID]) -> Explanation {
        Explanation(
            "several-accounts", .severalDevices, message,
            hint: "give the full name of one, preceded by its period and a slash if several have the same name",
            candidates: found.map { $0.displayName(among: found) })
    }

    /// The display name, with the period if another account has the same name.
    package func displayName(among others: [OATHAccountID]) -> String { text(among: others).printable }
}

extension OATHAccount: Report {
    package static let members: [Member<OATHAccount>] = [
        Member("id", "the text that the verbs take") { $0.id.text },
        Member("rawId", "the bytes on the key in base64url") { Base64.encodeURL($0.id.rawName) },
        Member("issuer") { $0.id.issuer },
        Member("name") { $0.id.name },
        Member("type", "totp or hotp") { $0.type.description.lowercased() },
        Member("period", "in seconds") { $0.type == .totp ? $0.id.period.components.seconds : nil },
        Member("algorithm") { $0.algorithm?.description },
        Member("digits") { $0.digits },
        Member("touch") { $0.needsTouch },
        Member("hidden") { $0.id.isHidden },
    ]
}
