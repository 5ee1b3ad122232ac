// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Verbs of a service on its users' second factors.
struct SecondFactorGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "2fa", abstract: "Second factors of a service's users, at a privacyIDEA server.",
        subcommands: [
            SecondFactorLogIn.self, SecondFactorLogOut.self, SecondFactorShow.self, SecondFactorSendPIN.self,
            SecondFactorVerifyPIN.self, SecondFactorRegisterKey.self, SecondFactorVerifyKey.self,
            SecondFactorAddUser.self, SecondFactorEnable.self, SecondFactorDisable.self, SecondFactorPhone.self,
            SecondFactorLogInTest.self, SecondFactorDeviceGroup.self, SecondFactorTrustGroup.self,
            SecondFactorAPIKeyGroup.self,
        ])
}

/// Verbs on the keys that are registered for a user.
struct SecondFactorDeviceGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device", abstract: "The keys that are registered for a user.",
        subcommands: [SecondFactorDeviceStatus.self, SecondFactorDeviceRemove.self])
}

/// Verbs on devices that the server remembers.
struct SecondFactorTrustGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Devices that the server remembers, so that they need no second factor.",
        subcommands: [
            SecondFactorTrustAllow.self, SecondFactorTrustAdd.self, SecondFactorTrustStatus.self,
            SecondFactorTrustCheck.self, SecondFactorTrustRemove.self,
        ])
}

/// Verbs on the API keys of services.
struct SecondFactorAPIKeyGroup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-key", abstract: "The API keys of services.",
        subcommands: [SecondFactorAPIKeyCreate.self, SecondFactorAPIKeyRotate.self, SecondFactorAPIKeyList.self])
}

/// The session and the key options that each verb takes.
protocol SecondFactorVerb: Verb {
    var access: SecondFactorAccess { get }
    var key: StoreKeyOptions { get }
    /// Whether an account has to ask, or an API key is enough.
    static var needsAccount: Bool { get }
    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer
}

extension SecondFactorVerb {
    static var needsAccount: Bool { true }

    func answer(in world: World) async throws -> Answer {
        var connection = try await access.connect(world, key, needsAccount: Self.needsAccount)
        return try await answer(&connection, world)
    }

    /// Refuses two secrets from one standard input.
    func checkInputs(_ others: Bool...) throws {
        let count = access.standardInputs + (others + [key.keyPinStdin, key.passphraseStdin]).count { $0 }
        if count > 1 { throw UsageError("standard input cannot be read for two things") }
    }
}
