// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKCrypto
import YKHTTP
package import YKPrivacyIDEA
import YKSecondFactor
import YKStore
import YKWire

/// Allows users to have devices remembered.
struct SecondFactorTrustAllow: SecondFactorUserVerb {
    static let about = About(
        "Allow or forbid remembering a user's devices.",
        discussion:
            "Uses a separate policy, ykit-remembered-devices; other policies on the server may also allow it.",
        examples: [Example("ykit 2fa trust allow alice on --days 30")])
    typealias Reported = (user: String, isAllowed: Bool, users: [String])
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("allowed") { $0.isAllowed }, Member("users", "of the policy") { $0.users })

    @Argument("user", help: "The user's name.") var user: String

    @Argument("state", help: "on or off.") var state: SwitchChoice

    @Option("--days <n>", help: "For how many days, if the policy is created (default: 30).") var days = 30

    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        guard (1...3650).contains(days) else { throw UsageError("--days must be a number from 1 to 3650") }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let users = try await connection.service.setTrust(user, isAllowed: state == .on, days: days)
        return Outcome(
            (user: user, isAllowed: state == .on, users: users),
            "devices of '\(user.printable)' \(state == .on ? "may be" : "are no longer") remembered")
    }
}

/// on or off.
enum SwitchChoice: String, CaseIterable, ExpressibleByArgument {
    case on, off
}

/// Registers this device with the server as remembered.
struct SecondFactorTrustAdd: SecondFactorUserVerb {
    static let about = About(
        "Verify a user once more, and have the server remember this device.",
        discussion: """
            Uses the PIN of 'send-pin', or the key with --with-key. The server's cookie is sealed by the key, so that \
            a copy of the file is useless without it.
            """,
        examples: [Example("ykit 2fa trust add alice")])
    typealias Reported = (user: String, serial: String)
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("serial") { $0.serial }, Member("remembered") { _ in true })

    @Argument("user", help: "The user's name.") var user: String

    @Flag("--with-key", help: "Verify the user by the key instead of a PIN.") var withKey = false

    @Option("--transaction <id>", help: "The transaction of 'send-pin', if several are pending.")
    var transaction: String?

    @OptionGroup var code: SentPINOptions
    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        if withKey, transaction != nil || code.isGiven {
            throw UsageError("--with-key and a PIN cannot be combined")
        }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        try connection.requireAPIKey()
        let (connection, service) = (connection, connection.service)
        let waiting = withKey ? nil : try await service.pendingPIN(of: user, transaction: transaction)
        let pin = withKey ? SharedSecret(Secret([])) : SharedSecret(try code.read(run))
        var serial = waiting?.serial ?? ""
        // The store is opened first, since the server returns the cookie only once.
        try await connection.vault.keep(
            id: SecondFactorVault.deviceID(connection.url, user), connection.trustDescription(user)
        ) { _ in
            let cookie: SharedSecret?
            if withKey {
                (serial, cookie) = try await service.verifyKey(
                    user, try await connection.key(run, "verify '\(user.printable)'"), remembers: true)
            } else if let waiting {
                cookie = try await service.verifyPIN(pin.value, loggingIn: user, waiting, remembers: true)
            } else {
                cookie = nil
            }
            guard let cookie else { throw SecondFactorError.trustNotAllowed }
            return cookie
        }
        return Outcome(
            (user: user, serial: serial), "this device is remembered for '\(user.printable)'")
    }
}

extension SecondFactorConnection {
    /// Requires an API key.
    func requireAPIKey() throws {
        guard apiKey == nil else { return }
        throw Explanation(
            "api-key-needed", .usage, "remembered devices belong to a client: its API key is required",
            hint: "give it with --api-key-fd N or YKIT_2FA_API_KEY; 'ykit 2fa api-key create' creates one")
    }

    /// The public data of a sealed cookie.
    func trustDescription(_ user: String) -> JSONValue {
        [
            "kind": "trust", "server": .string(url.description), "user": .string(user),
            "realm": service.realm.map(JSONValue.string) ?? .null,
        ]
    }
}

/// Lists remembered devices.
struct SecondFactorTrustStatus: SecondFactorUserVerb {
    static let about = About(
        "List the devices that the server remembers for a user.",
        discussion: "Lists the devices of one client: the one with the API key, or that of --client.",
        examples: [Example("ykit 2fa trust status alice")])
    typealias Reported = (user: String, client: FactorClient, devices: [FactorDevice])
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("client", "its identifier") { $0.client.id },
        Member("trusted", "whether there is one") { !$0.devices.isEmpty }, Member("devices") { $0.devices })

    @Argument("user", help: "The user's name.") var user: String

    @Option("--client <name>", help: "The client, by its name or identifier.") var client: String?

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let owner = try await connection.client(client)
        let devices = try await connection.service.trustedDevices(of: user, client: owner.id)
        if devices.isEmpty { run.terminal.note("no device is remembered for '\(user.printable)'") }
        return Outcome(
            (user: user, client: owner, devices: devices), Table.lines(devices.map(\.row)))
    }
}

extension SecondFactorConnection {
    /// Returns the named client, or the one of the API key.
    func client(_ name: String?) async throws -> FactorClient {
        if let name { return try await service.client(named: name) }
        try requireAPIKey()
        guard let apiKey else { throw SecondFactorError.noSuchClient("") }
        return try await service.client(of: apiKey.value)
    }
}

extension FactorDevice: Report {
    package static let members: [Member<FactorDevice>] =
        [
            Member("id") { $0.id },
            Member("user") { $0.user },
            Member("created", "as the server writes it") { $0.created },
        ] + time("expires") { $0.expiry } + [
            Member("lastUsed", "as the server writes it") { $0.lastUsed },
            Member("address", "the last known one") { $0.address },
        ]

    fileprivate var row: [String] {
        [
            id.printable, "until " + (expiry.map(Day.text) ?? "?"), (address ?? "").printable,
            "used " + (lastUsed ?? "never").printable,
        ]
    }
}

/// Checks whether this device is remembered.
struct SecondFactorTrustCheck: SecondFactorUserVerb {
    static let about = About(
        "Check whether the server remembers this device for a user.",
        discussion: """
            The cookie is replaced at each use. If the server no longer accepts it, this device was removed, or \
            someone used a copy of the cookie; the stored cookie is then deleted.
            """,
        examples: [Example("ykit 2fa trust check alice")])
    static let needsAccount = false
    static let answer = Shape<String>(Member("user"), Member("trusted") { _ in true })

    @Argument("user", help: "The user's name.") var user: String

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<String> {
        try connection.requireAPIKey()
        let (vault, service) = (connection.vault, connection.service)
        let id = SecondFactorVault.deviceID(connection.url, user)
        guard let record = try vault.record(id) else { throw SecondFactorError.notTrusted(isRevoked: false) }
        do {
            try await vault.keep(id: id, record.description) { cookie in
                guard let cookie else { throw SecondFactorError.notTrusted(isRevoked: false) }
                return try await service.checkTrust(user, cookie: cookie.value)
            }
        } catch SecondFactorError.notTrusted(isRevoked: true) {
            try vault.remove(id)
            throw SecondFactorError.notTrusted(isRevoked: true)
        }
        return Outcome(user, "this device is remembered for '\(user.printable)'")
    }
}

/// Removes remembered devices from the server.
struct SecondFactorTrustRemove: SecondFactorUserVerb {
    static let about = About(
        "Delete a remembered device of a user from the server, or all of them.",
        examples: [Example("ykit 2fa trust rm alice")])
    typealias Reported = (user: String, count: Int)
    static let answer = Shape<Reported>(Member("user") { $0.user }, Member("removedCount") { $0.count })

    @Argument("user", help: "The user's name.") var user: String

    @Argument("device", isBase64URL: true, help: "The device, as 'trust status' shows it (default: all).")
    var device: EntryQuery?

    @Option("--client <name>", help: "The client, by its name or identifier.") var client: EntryQuery?

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let what = device.map { "device \($0.printable)" } ?? "all devices"
        try confirmation.ask("'\(user.printable)' would need the second factor there again: forget \(what)?", in: run)
        let owner = device == nil ? nil : try await connection.client(client?.text)
        let count = try await connection.service.removeTrust(user, device: device?.text, client: owner?.id)
        if device == nil { try connection.vault.remove(SecondFactorVault.deviceID(connection.url, user)) }
        return Outcome((user: user, count: count), "forgotten: \(count)")
    }
}
