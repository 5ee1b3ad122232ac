// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKHSMAuth
import YKWire

/// Commands for the YubiHSM Auth application.
struct HSMAuthGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hsmauth", abstract: "YubiHSM Auth: credentials for sessions with a YubiHSM 2.",
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

/// The source of the management password, unless the user is asked for it.
struct ManagementPasswordOptions: ParsableArguments {
    static let title = "Management Password Options"

    @Flag(help: "Read the management password from standard input, one line.")
    var managementPasswordStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the management password from this open file descriptor; or set YKIT_HSMAUTH_MANAGEMENT_PASSWORD.",
            valueName: "n"))
    var managementPasswordFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: managementPasswordStdin, descriptor: managementPasswordFd,
            variable: "YKIT_HSMAUTH_MANAGEMENT_PASSWORD",
            hint: "give it with --management-password-stdin, --management-password-fd N or "
                + "YKIT_HSMAUTH_MANAGEMENT_PASSWORD")
    }
}

/// The source of a credential's password, unless the user is asked for it.
struct CredentialPasswordOptions: ParsableArguments {
    static let title = "Password Options"

    @Flag(help: "Read the credential's password from standard input, one line.")
    var passwordStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the credential's password from this open file descriptor; or set YKIT_HSMAUTH_PASSWORD.",
            valueName: "n"))
    var passwordFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: passwordStdin, descriptor: passwordFd, variable: "YKIT_HSMAUTH_PASSWORD",
            hint: "give it with --password-stdin, --password-fd N or YKIT_HSMAUTH_PASSWORD")
    }
}

/// The source of a new password, unless the user is asked for it.
struct NewHSMAuthPasswordOptions: ParsableArguments {
    static let title = "New Password Options"

    @Flag(help: "Read the new password from standard input, one line.")
    var newPasswordStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the new password from this open file descriptor; or set YKIT_HSMAUTH_NEW_PASSWORD.",
            valueName: "n"))
    var newPasswordFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: newPasswordStdin, descriptor: newPasswordFd, variable: "YKIT_HSMAUTH_NEW_PASSWORD",
            hint: "give it with --new-password-stdin, --new-password-fd N or YKIT_HSMAUTH_NEW_PASSWORD")
    }
}

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
            prompt.tell("to \(reason), the key asks for its management password; \(tries) tries left")
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
            prompt.tell("\(credential.retries) tries left, then the key deletes the credential")
            return try HSMAuthPassword(
                try prompt.secret("password of '\(credential.label.text.printable)'"))
        }
    }

    /// Returns a new password, given or asked for twice.
    func newHSMAuthPassword(_ source: SecretInput.Source, _ name: String) throws -> HSMAuthPassword {
        if plan != nil { return .defaultManagementKey() }
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return try HSMAuthPassword(secret)
        case .none:
            let prompt = try Prompt(orElse: source.hint)
            return try HSMAuthPassword(try prompt.newSecret(name))
        }
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
    var json: JSON {
        var object = JSON.Object()
        object["label"] = .string(label.text)
        object["rawLabel"] = .string(Base64.encodeURL(label.bytes))
        object["algorithm"] = .string(algorithm.description)
        object["touch"] = needsTouch.map(JSON.bool) ?? .null
        object["retries"] = .int(Int64(retries))
        return .object(object)
    }
}
