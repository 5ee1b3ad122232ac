// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKPrivacyIDEA
import YKSecondFactor

/// Registers a key.
struct SecondFactorRegisterKey: SecondFactorUserVerb {
    static let about = About(
        "Register this key for a user.",
        discussion: """
            The key verifies its user, by PIN or fingerprint. The user must already have a registered number or \
            address, unless --no-condition is given. With --resident the key stores a passkey, which signs in without \
            a user name.
            """,
        examples: [Example("ykit 2fa register-key alice --device-id desk")])
    typealias Reported = (user: String, factor: Factor)
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("serial") { $0.factor.serial }, Member("name") { $0.factor.description },
        Member("aaguid", "as the server writes it") { $0.factor.aaguid }, Member("factor") { $0.factor })

    @Argument("user", help: "The user's name.") var user: String

    @Option("--device-id <name>", help: "A name for the device.") var deviceId: String?

    @Flag("--resident", help: "Store the credential on the key: a passkey.") var resident = false

    @Flag("--no-condition", help: "Do not require a registered number or address.") var noCondition = false

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let connection = connection
        let token = try await connection.service.registerKey(
            user, try await connection.key(run, "register a key for '\(user.printable)'"),
            as: resident ? .passkey : .webAuthn, device: deviceId, requiresPIN: !noCondition)
        return Outcome(
            (user: user, factor: token), "registered \(token.kind.rawValue) \(token.serial.printable)")
    }
}

/// Verifies a user with a key.
struct SecondFactorVerifyKey: SecondFactorUserVerb {
    static let about = About(
        "Verify a user's key; the key verifies its user by PIN or fingerprint.",
        examples: [Example("ykit 2fa verify-key alice")])
    typealias Reported = (user: String, serial: String)
    static let answer = Shape<Reported>(
        Member("user") { $0.user }, Member("serial") { $0.serial }, Member("accepted") { _ in true })

    @Argument("user", help: "The user's name.") var user: String

    @Option("--device-id <name>", help: "The device that must answer.") var deviceId: String?

    @Flag("--resident", help: "Sign in with a passkey, without naming the user to the server.") var resident = false

    @OptionGroup var server: SecondFactorOptions

    func check() throws {
        if resident, deviceId != nil { throw UsageError("--resident and --device-id cannot be combined") }
    }

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let (connection, service) = (connection, connection.service)
        func client() async throws -> WebAuthnClient {
            try await connection.key(run, "verify '\(user.printable)'")
        }
        let serial =
            resident
            ? try await service.verifyPasskey(try await client(), of: user).serial
            : try await service.verifyKey(user, try await client(), device: deviceId).serial
        return Outcome(
            (user: user, serial: serial), "the key of '\(user.printable)' answered (\(serial.printable))")
    }
}

/// Shows registered keys.
struct SecondFactorDeviceStatus: SecondFactorUserVerb {
    static let about = About(
        "Show whether a device is registered for a user, or list all of them.",
        examples: [Example("ykit 2fa device status alice")])
    typealias Reported = (user: String, factors: [Factor])
    static let answer = Shape<Reported>(
        Member("user") { $0.user },
        Member("registered", "whether one is usable") { $0.factors.contains { $0.isUsable } },
        Member("factors") { $0.factors })

    @Argument("user", help: "The user's name.") var user: String

    @Argument("device", help: "The device: its name, serial number or container.") var device: EntryQuery?

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        let found = try await connection.service.devices(of: user, device?.text)
        if let device, found.isEmpty { throw SecondFactorError.noSuchDevice(device.text) }
        if found.isEmpty { run.terminal.note("no keys are registered for '\(user.printable)'") }
        return Outcome((user: user, factors: found), Table.lines(found.map(\.row)))
    }
}

/// Deletes a registered key.
struct SecondFactorDeviceRemove: SecondFactorUserVerb {
    static let about = About(
        "Delete a user's device from the server.",
        examples: [Example("ykit 2fa device rm alice desk")])
    typealias Reported = (user: String, serial: String)
    static let answer = Shape<Reported>(Member("user") { $0.user }, Member("serial") { $0.serial })

    @Argument("user", help: "The user's name.") var user: String

    @Argument("device", help: "The device: its name, serial number or container.") var device: EntryQuery

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<Reported> {
        try confirmation.ask(
            "'\(user.printable)' could no longer log in with device '\(device.printable)': delete it?", in: run)
        let token = try await connection.service.removeDevice(device.text, of: user)
        return Outcome((user: user, serial: token.serial), "deleted \(token.serial.printable)")
    }
}
