// SPDX-License-Identifier: Apache-2.0

public import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKInteraction
public import YKOpenPGP
import YKProtocols

extension OpenPGPSlot: ExpressibleByArgument {
    private static let shortNames: [String: OpenPGPSlot] = [
        "sig": .signature, "dec": .decryption, "enc": .decryption, "aut": .authentication, "auth": .authentication,
        "att": .attestation,
    ]

    /// Parses the name of a slot or its beginning.
    public init?(argument: String) {
        let text = argument.lowercased()
        guard let slot = Self.shortNames[text] ?? Self.allCases.first(where: { $0.description == text }) else {
            return nil
        }
        self = slot
    }

    /// The possible values.
    public static var allValueStrings: [String] { allCases.map(\.description) }
}

extension OpenPGPKeyType: ExpressibleByArgument, LosslessStringConvertible {
    /// The possible values.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension OpenPGPTouchPolicy: ExpressibleByArgument {
    private static let known = [off, on, fixed, cached, cachedFixed]

    /// Parses the name of a policy.
    public init?(argument: String) {
        guard let policy = Self.known.first(where: { $0.description == argument.lowercased() }) else { return nil }
        self = policy
    }

    /// The possible values.
    public static var allValueStrings: [String] { known.map(\.description) }
}

enum AdminPIN: SecretKind {
    static let name = SecretName("admin-pin", "admin PIN", "YKIT_ADMIN_PIN")
    static let title = "Admin PIN Options"
}

enum NewAdminPIN: SecretKind {
    static let name = SecretName("new-admin-pin", "new admin PIN", "YKIT_NEW_ADMIN_PIN")
    static let title = "New Admin PIN Options"
}

enum ResetCode: SecretKind {
    static let name = SecretName("reset-code", "reset code", "YKIT_RESET_CODE")
    static let title = "Reset Code Options"
}

typealias AdminPINOptions = SecretOptions<AdminPIN>
typealias NewAdminPINOptions = SecretOptions<NewAdminPIN>
typealias ResetCodeOptions = SecretOptions<ResetCode>

extension OpenPGPKDF.Reference {
    /// The kind of credential.
    fileprivate var kind: CredentialKind {
        switch self {
        case .user: .openPGPUserPIN
        case .reset: .openPGPResetCode
        case .admin: .openPGPAdminPIN
        }
    }

    /// The remaining tries.
    fileprivate func tries(_ retries: (user: Int, reset: Int, admin: Int)) -> Int {
        switch self {
        case .user: retries.user
        case .reset: retries.reset
        case .admin: retries.admin
        }
    }

    /// The default value; there is none for the reset code.
    fileprivate var factoryValue: String {
        switch self {
        case .user: "123456"
        case .reset, .admin: "12345678"
        }
    }
}

extension Run {
    /// Opens the OpenPGP application of the selected key.
    func openOpenPGP() async throws -> OpenPGPService { try await open(OpenPGPService.self) }

    /// Returns the current PIN or reset code, given or asked for. A plan sends no PIN, so it asks for none.
    func openPGPPIN(
        _ source: SecretInput.Source, _ reference: OpenPGPKDF.Reference, of service: OpenPGPService, for reason: String
    ) async throws -> Secret {
        let source = reference == .user ? self.source(of: .openPGPUserPIN, source) : source
        let question = TerminalQuestion(
            reference.title, of: "the card", objection: "the PIN must not be empty", orElse: source.hint)
        let tries = try await perform { reference.tries(try await service.status().pins.retries) }
        let pin = try await obtain(reference.kind, source, question, to: reason, triesLeft: tries)
        return pin.value.copy()
    }

    /// Verifies a PIN, and warns if it is the factory default.
    func verify(
        _ pin: borrowing Secret, for access: OpenPGPAccess, on service: OpenPGPService
    ) async throws {
        try await service.verify(pin, for: access)
        let reference = access.reference
        guard pin == Secret(utf8: reference.factoryValue) else { return }
        let verb = reference == .admin ? "change-admin-pin" : "change-pin"
        perform {
            terminal.warn(
                "factory-default",
                "the \(reference.title) is still the factory default; set another with 'ykit openpgp access \(verb)'")
        }
    }

    /// Returns a new PIN or reset code, given or asked for twice.
    func newOpenPGPPIN(_ source: SecretInput.Source, _ reference: OpenPGPKDF.Reference) async throws -> Secret {
        var question = TerminalQuestion(
            asking: "new \(reference.title)", objection: "the PIN must not be empty", orElse: source.hint)
        let least = reference == .user ? 6 : 8
        question.rule = { pin in
            (least...127).contains(pin.count)
                ? nil : Explanation(OpenPGPError.badPINLength(reference, least: least, most: 127)).message
        }
        return try await obtain(reference.kind, source, question, isNew: true).value.copy()
    }

    /// Verifies the admin PIN, given or asked for.
    func administer(
        _ options: AdminPINOptions, _ service: OpenPGPService, for reason: String
    ) async throws {
        let pin = try await openPGPPIN(options.source, .admin, of: service, for: reason)
        try await verify(pin, for: .administration, on: service)
    }

    /// Runs an operation that may require a touch under the slot's policy, and prompts while the key waits.
    func touchingOpenPGP<Result>(
        _ slot: OpenPGPSlot, _ service: OpenPGPService, _ body: () async throws -> Result
    ) async throws -> Result {
        let policy = try await service.touchPolicy(slot)
        guard let policy, policy != .off else { return try await body() }
        let wait = person.expectTouch(.required)
        defer { wait.end() }
        return try await body()
    }
}
