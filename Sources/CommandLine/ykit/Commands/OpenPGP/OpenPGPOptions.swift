// SPDX-License-Identifier: Apache-2.0

public import Arguments
import YKCrypto
public import YKOpenPGP
import YKTransport

extension OpenPGPSlot: ExpressibleByArgument {
    private static let shortNames: [String: OpenPGPSlot] = [
        "sig": .signature, "dec": .decryption, "enc": .decryption, "aut": .authentication, "auth": .authentication,
        "att": .attestation,
    ]

    /// Reads the name of a slot, or its first letters.
    public init?(argument: String) {
        let text = argument.lowercased()
        guard let slot = Self.shortNames[text] ?? Self.allCases.first(where: { $0.description == text }) else {
            return nil
        }
        self = slot
    }

    /// What can stand there.
    public static var allValueStrings: [String] { allCases.map(\.description) }
}

extension OpenPGPKeyType: ExpressibleByArgument {
    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a type of key.
    public init?(argument: String) { self.init(argument) }

    /// What can stand there.
    public static var allValueStrings: [String] { known.map(\.description) }
}

extension OpenPGPTouchPolicy: ExpressibleByArgument {
    private static let known = [off, on, fixed, cached, cachedFixed]

    /// Its name, for the help.
    public var defaultValueDescription: String { description }

    /// Reads the name of a policy.
    public init?(argument: String) {
        guard let policy = Self.known.first(where: { $0.description == argument.lowercased() }) else { return nil }
        self = policy
    }

    /// What can stand there.
    public static var allValueStrings: [String] { known.map(\.description) }
}

/// Where the admin PIN comes from when it is not asked for.
struct AdminPINOptions: ParsableArguments {
    @Flag(help: "Read the admin PIN from standard input, one line.")
    var adminPinStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the admin PIN from this open file descriptor; or set YKIT_ADMIN_PIN.", valueName: "n"))
    var adminPinFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: adminPinStdin, descriptor: adminPinFd, variable: "YKIT_ADMIN_PIN",
            hint: "give the admin PIN with --admin-pin-stdin, --admin-pin-fd N or YKIT_ADMIN_PIN")
    }
}

/// Where a new admin PIN comes from when it is not asked for.
struct NewAdminPINOptions: ParsableArguments {
    @Flag(help: "Read the new admin PIN from standard input, one line.")
    var newAdminPinStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the new admin PIN from this open file descriptor; or set YKIT_NEW_ADMIN_PIN.", valueName: "n"))
    var newAdminPinFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: newAdminPinStdin, descriptor: newAdminPinFd, variable: "YKIT_NEW_ADMIN_PIN",
            hint: "give the new admin PIN with --new-admin-pin-stdin, --new-admin-pin-fd N or YKIT_NEW_ADMIN_PIN")
    }
}

/// Where the reset code comes from when it is not asked for.
struct ResetCodeOptions: ParsableArguments {
    @Flag(help: "Read the reset code from standard input, one line.")
    var resetCodeStdin = false

    @Option(
        help: ArgumentHelp(
            "Read the reset code from this open file descriptor; or set YKIT_RESET_CODE.", valueName: "n"))
    var resetCodeFd: Int32?

    var source: SecretInput.Source {
        SecretInput.Source(
            isStandardInput: resetCodeStdin, descriptor: resetCodeFd, variable: "YKIT_RESET_CODE",
            hint: "give the reset code with --reset-code-stdin, --reset-code-fd N or YKIT_RESET_CODE")
    }
}

extension OpenPGPKDF.Reference {
    /// Its name in messages.
    var words: String {
        switch self {
        case .user: "user PIN"
        case .reset: "reset code"
        case .admin: "admin PIN"
        }
    }

    /// The one of a new card; there is no such reset code.
    fileprivate var usual: String {
        switch self {
        case .user: "123456"
        case .reset, .admin: "12345678"
        }
    }
}

extension World {
    /// The OpenPGP application of the chosen key.
    func openOpenPGP() async throws -> OpenPGPService { try await OpenPGPService.open(try connect()) }

    /// A PIN or the reset code that the card has, given or asked for. With one try left it is asked on the terminal
    /// whether to go on, as a wrong one then blocks it. A plan sends none, so it asks for none.
    func openPGPPIN(
        _ source: SecretInput.Source, _ reference: OpenPGPKDF.Reference, of service: OpenPGPService, for reason: String
    ) async throws -> Secret {
        if plan != nil { return Secret(utf8: reference.usual) }
        let retries = try await service.pinStatus().retries
        let tries =
            switch reference {
            case .user: retries.user
            case .reset: retries.reset
            case .admin: retries.admin
            }
        if tries == 0 { throw OpenPGPError.blocked(reference) }
        if tries == 1 {
            try Prompt.confirm(
                "this is the last try: another wrong \(reference.words) blocks it; go on?",
                orElse: "run it again on a terminal to go on")
        }
        let pin = try openPGPInput(source, reference, "to \(reason), the card asks for its \(reference.words)", tries)
        if reference != .reset, pin == Secret(utf8: reference.usual) {
            terminal.warn("the \(reference.words) is that of a new card; change it with 'ykit openpgp access'")
        }
        return pin
    }

    private func openPGPInput(
        _ source: SecretInput.Source, _ reference: OpenPGPKDF.Reference, _ words: String, _ tries: Int
    ) throws -> Secret {
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return secret
        case .none:
            let prompt = try Prompt(orElse: source.hint)
            prompt.tell("\(words); \(tries == 1 ? "the last try" : "\(tries) tries left")")
            return try prompt.neededSecret(reference.words, "an empty PIN is never sent")
        }
    }

    /// A new PIN or reset code, given or asked for twice.
    func newOpenPGPPIN(_ source: SecretInput.Source, _ reference: OpenPGPKDF.Reference) throws -> Secret {
        if plan != nil { return Secret(utf8: reference.usual) }
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return secret
        case .none:
            return try Prompt(orElse: source.hint).newSecret("new \(reference.words)", "an empty PIN is never sent")
        }
    }

    /// Verifies the admin PIN, given or asked for.
    func administer(
        _ options: AdminPINOptions, _ service: OpenPGPService, for reason: String
    ) async throws {
        let pin = try await openPGPPIN(options.source, .admin, of: service, for: reason)
        try await service.verify(pin, for: .administration)
    }

    /// Runs what may require a touch by the policy of a slot, and says so while it waits.
    func touchingOpenPGP<Result>(
        _ slot: OpenPGPSlot, _ service: OpenPGPService, _ body: () async throws -> Result
    ) async throws -> Result {
        let policy = try await service.status().keys.first { $0.slot == slot }?.touch
        guard let policy, policy != .off, plan == nil else { return try await body() }
        let prompt = TouchPrompt(terminal)
        defer { prompt.end() }
        return try await body()
    }
}
