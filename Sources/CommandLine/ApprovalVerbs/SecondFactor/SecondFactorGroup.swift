// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKSecondFactor

/// Commands with which a service manages its users' second factors.
struct SecondFactorGroup: ParsableCommand {
    static let about = About(
        "2fa", "Second factors of a service's users, at a privacyIDEA server.",
        subcommands: [
            SecondFactorLogIn.self, SecondFactorLogOut.self, SecondFactorShow.self, SecondFactorSendPIN.self,
            SecondFactorVerifyPIN.self, SecondFactorRegisterKey.self, SecondFactorVerifyKey.self,
            SecondFactorAddUser.self, SecondFactorEnable.self, SecondFactorDisable.self, SecondFactorPhone.self,
            SecondFactorLogInTest.self, SecondFactorDeviceGroup.self, SecondFactorTrustGroup.self,
            SecondFactorAPIKeyGroup.self,
        ],
        examples: [Example("ykit 2fa status alice --server https://mfa.example.com")])
}

/// Commands for the keys registered for a user.
struct SecondFactorDeviceGroup: ParsableCommand {
    static let about = About(
        "device", "The keys that are registered for a user.",
        subcommands: [SecondFactorDeviceStatus.self, SecondFactorDeviceRemove.self],
        examples: [Example("ykit 2fa device status alice")])
}

/// Commands for devices that the server remembers.
struct SecondFactorTrustGroup: ParsableCommand {
    static let about = About(
        "trust", "Devices that the server remembers, so that they need no second factor.",
        subcommands: [
            SecondFactorTrustAllow.self, SecondFactorTrustAdd.self, SecondFactorTrustStatus.self,
            SecondFactorTrustCheck.self, SecondFactorTrustRemove.self,
        ],
        examples: [Example("ykit 2fa trust status alice")])
}

/// Commands for the API keys of services.
struct SecondFactorAPIKeyGroup: ParsableCommand {
    static let about = About(
        "api-key", "The API keys of services.",
        subcommands: [SecondFactorAPIKeyCreate.self, SecondFactorAPIKeyRotate.self, SecondFactorAPIKeyList.self],
        examples: [Example("ykit 2fa api-key list")])
}

/// A verb with session and key options.
protocol SecondFactorVerb: Verb {
    associatedtype Reported
    var access: SecondFactorAccess { get }
    var key: StoreKeyOptions { get }
    /// Whether an account is required, or an API key is enough.
    static var needsAccount: Bool { get }
    /// The user that the verb names; `nil` for verbs without a user.
    var subject: String? { get }
    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported>
}

extension SecondFactorVerb {
    static var needsAccount: Bool { true }
    var subject: String? { nil }
    var pinApplication: PINApplication? { .fido }

    func run(in run: Run) async throws -> Outcome<Reported> {
        var connection = try await access.connect(run, key, needsAccount: Self.needsAccount)
        // Checked before any question is asked or key is opened.
        if let subject { try connection.service.check(subject) }
        return try await self.run(&connection, run)
    }
}

/// A verb about a user.
protocol SecondFactorUserVerb: SecondFactorVerb {
    var user: String { get }
}

extension SecondFactorUserVerb {
    var subject: String? { user }
}
