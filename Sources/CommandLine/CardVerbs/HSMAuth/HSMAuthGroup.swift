// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKHSMAuth
import YKProtocols

/// Commands for the YubiHSM Auth application.
package struct HSMAuthGroup: ParsableCommand {
    package static let about = About(
        "YubiHSM Auth: credentials for sessions with a YubiHSM 2.",
        discussion: """
            A password is a text of up to 16 bytes, or 32 hexadecimal digits. After eight wrong passwords the key \
            deletes the credential; after eight wrong management passwords only a reset helps.
            """,
        subcommands: [
            "info": HSMAuthInfo.self, "list": HSMAuthList.self, "add": HSMAuthAdd.self, "delete": HSMAuthDelete.self,
            "export-public-key": HSMAuthExportPublicKey.self, "change-password": HSMAuthChangePassword.self,
            "change-management-password": HSMAuthChangeManagementPassword.self, "challenge": HSMAuthChallenge.self,
            "calculate": HSMAuthCalculate.self, "reset": HSMAuthReset.self,
        ],
        examples: [Example("ykit hsmauth list")])

    package init() {}
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

extension Run {
    /// Opens the YubiHSM Auth application of the selected key.
    func openHSMAuth() async throws -> HSMAuthService { try await open(HSMAuthService.self) }

    /// Returns the management password, given or asked for; an empty answer means the default one.
    func managementPassword(
        _ options: ManagementPasswordOptions, of service: HSMAuthService, for reason: String
    ) async throws -> HSMAuthPassword {
        let question = TerminalQuestion(
            "management password", of: "the key", label: "management password (leave empty for the factory default)",
            objection: nil, orElse: options.source.hint)
        let tries = try await perform { try await service.managementKeyRetries() }
        let given = try await obtain(
            .hsmAuthManagementKey, options.source, question, to: reason, triesLeft: tries, allowsEmpty: true)
        let password = try HSMAuthPassword(given.value)
        if password.isDefault { terminal.warn("factory-default", Self.defaultManagementPassword) }
        return password
    }

    private static let defaultManagementPassword =
        "the management password is still the factory default; set another with 'ykit hsmauth change-management-password'"

    /// Returns the password of a credential, given or asked for. With one retry left, asks for confirmation unless
    /// `force` is set, since another failure deletes the credential.
    func credentialPassword(
        _ options: CredentialPasswordOptions, of credential: HSMAuthCredential, force: Bool
    ) async throws -> HSMAuthPassword {
        try confirm(
            "this is the last try: after another wrong password the key deletes "
                + "'\(credential.label.text.printable)': use it?", unless: force || credential.retries != 1)
        let question = TerminalQuestion(
            asking: "password of '\(credential.label.text.printable)'",
            after: "\(Tries.next(credential.retries)), then the key deletes the credential",
            orElse: options.source.hint)
        return try HSMAuthPassword(
            try await obtain(.hsmAuthPassword, options.source, question, allowsEmpty: true).value)
    }

    /// Returns a new password, given or asked for twice.
    func newHSMAuthPassword(_ source: SecretInput.Source, _ name: String) async throws -> HSMAuthPassword {
        let question = TerminalQuestion(asking: name, orElse: source.hint)
        return try HSMAuthPassword(
            try await obtain(.hsmAuthPassword, source, question, isNew: true, allowsEmpty: true).value)
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
