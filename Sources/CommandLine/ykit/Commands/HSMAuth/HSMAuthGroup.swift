// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKHSMAuth
import YKWire

/// Commands for the YubiHSM Auth application.
struct HSMAuthGroup: ParsableCommand {
    static let about = About(
        "hsmauth", "YubiHSM Auth: credentials for sessions with a YubiHSM 2.",
        discussion: """
            A password is a text of up to 16 bytes, or 32 hexadecimal digits. After eight wrong passwords the key \
            deletes the credential; after eight wrong management passwords only a reset helps.
            """,
        subcommands: [
            HSMAuthInfo.self, HSMAuthList.self, HSMAuthAdd.self, HSMAuthDelete.self, HSMAuthExportPublicKey.self,
            HSMAuthChangePassword.self, HSMAuthChangeManagementPassword.self, HSMAuthChallenge.self,
            HSMAuthCalculate.self, HSMAuthReset.self,
        ])
}

enum ManagementPassword: SecretKind {
    static let name = SecretName(
        "management-password", "management password", "YKIT_HSMAUTH_MANAGEMENT_PASSWORD")
    static let title = "Management Password Options"
}

enum CredentialPassword: SecretKind {
    static let name = SecretName("password", "credential's password", "YKIT_HSMAUTH_PASSWORD")
    static let title = "Password Options"
}

enum NewHSMAuthPassword: SecretKind {
    static let name = SecretName("new-password", "new password", "YKIT_HSMAUTH_NEW_PASSWORD")
    static let title = "New Password Options"
}

enum DerivationPassword: SecretKind {
    static let name = SecretName(
        "derivation-password", "derivation password", "YKIT_HSMAUTH_DERIVATION_PASSWORD")
}

typealias ManagementPasswordOptions = SecretOptions<ManagementPassword>
typealias CredentialPasswordOptions = SecretOptions<CredentialPassword>
typealias NewHSMAuthPasswordOptions = SecretOptions<NewHSMAuthPassword>

extension World {
    /// Opens the YubiHSM Auth application of the selected key.
    func openHSMAuth() async throws -> HSMAuthService { try await HSMAuthService.open(try connect()) }

    /// Returns the management password, given or asked for; an empty answer means the default one.
    func managementPassword(
        _ options: ManagementPasswordOptions, of service: HSMAuthService, for reason: String
    ) async throws -> HSMAuthPassword {
        if plan != nil { return .defaultManagementKey() }
        let tries = try await service.managementKeyRetries()
        if tries == 0 { throw HSMAuthError.managementKeyBlocked }
        let password: HSMAuthPassword
        switch try SecretInput.given(options.source, terminal) {
        case .secret(let secret): password = try HSMAuthPassword(secret)
        case .none:
            let prompt = try Prompt(orElse: options.source.hint)
            prompt.tell("to \(reason), the key asks for its management password; \(Tries.next(tries))")
            password = try HSMAuthPassword(try prompt.secret("management password (empty for that of a new key)"))
        }
        if password.isDefault { terminal.warn(Self.defaultManagementPassword) }
        return password
    }

    private static let defaultManagementPassword =
        "the management password is that of every new key; set another with 'ykit hsmauth change-management-password'"

    /// Returns the password of a credential, given or asked for. With one retry left, asks for confirmation unless
    /// `force` is set, since another failure deletes the credential.
    func credentialPassword(
        _ options: CredentialPasswordOptions, of credential: HSMAuthCredential, force: Bool
    ) throws -> HSMAuthPassword {
        if plan != nil { return .defaultManagementKey() }
        if credential.retries == 1, !force {
            try Prompt.confirm(
                "this is the last try: after another wrong password the key deletes "
                    + "'\(credential.label.text.printable)'; go on?")
        }
        switch try SecretInput.given(options.source, terminal) {
        case .secret(let secret): return try HSMAuthPassword(secret)
        case .none:
            let prompt = try Prompt(orElse: options.source.hint)
            prompt.tell("\(Tries.next(credential.retries)), then the key deletes the credential")
            return try HSMAuthPassword(
                try prompt.secret("password of '\(credential.label.text.printable)'"))
        }
    }

    /// Returns a new password, given or asked for twice.
    func newHSMAuthPassword(_ source: SecretInput.Source, _ name: String) throws -> HSMAuthPassword {
        if plan != nil { return .defaultManagementKey() }
        return try HSMAuthPassword(try source.readNew(terminal, asking: name))
    }
}

extension HSMAuthService {
    /// Returns the credential with a label.
    func credential(_ label: HSMAuthLabel) throws(HSMAuthError) -> HSMAuthCredential {
        guard let found = try credentials().first(where: { $0.label == label }) else {
            throw .noSuchCredential(label)
        }
        return found
    }
}

extension HSMAuthCredential {
    var json: JSONValue {
        var object = JSONValue.Object()
        object["label"] = .string(label.text)
        object["rawLabel"] = .string(Base64.encodeURL(label.bytes))
        object["algorithm"] = .string(algorithm.description)
        object["touch"] = needsTouch.map(JSONValue.bool) ?? .null
        object["retries"] = .int(Int64(retries))
        return .object(object)
    }
}
