// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKSecondFactor
import YKWire

/// Registers a key.
struct SecondFactorRegisterKey: SecondFactorUserVerb {
    static let about = About(
        "register-key", "Register the key at hand for a user.",
        discussion: """
            The key verifies its user, by PIN or fingerprint. A user needs a registered number or address first; \
            --no-condition does without. With --resident the key stores a passkey, which signs in without a user name.
            """, members: ["user", "serial", "device", "aaguid", "factor"])

    @Argument("user", help: "The user's name.") var user: String

    @Option("--device-id <name>", help: "A name to find the device by.") var deviceId: String?

    @Flag("--resident", help: "Store the credential on the key: a passkey.") var resident = false

    @Flag("--no-condition", help: "Do not ask for a registered number or address first.") var noCondition = false

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let connection = connection
        let token = try await connection.service.registerKey(
            user, try await connection.key(world, key, "register a key for '\(user.printable)'"),
            as: resident ? .passkey : .webAuthn, device: deviceId, requiresPIN: !noCondition)
        return Answer(
            "registered \(token.kind.rawValue) \(token.serial.printable)",
            [
                "user": .string(user), "serial": .string(token.serial), "device": .string(token.description),
                "aaguid": token.aaguid.map(JSONValue.string) ?? .null, "factor": token.listed,
            ])
    }
}

/// Verifies a user with a key.
struct SecondFactorVerifyKey: SecondFactorUserVerb {
    static let about = About(
        "verify-key", "Have the user's key answer; it verifies its user, by PIN or fingerprint.",
        members: ["user", "serial", "accepted"])

    @Argument("user", help: "The user's name.") var user: String

    @Option("--device-id <name>", help: "Which device has to answer.") var deviceId: String?

    @Flag("--resident", help: "Sign in with a passkey, without telling the server who it is.") var resident = false

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func check() throws {
        if resident, deviceId != nil { throw UsageError("--resident excludes --device-id") }
        try checkInputs()
    }

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let (connection, service) = (connection, connection.service)
        func client() async throws -> WebAuthnClient {
            try await connection.key(world, key, "verify '\(user.printable)'")
        }
        let serial =
            resident
            ? try await service.verifyPasskey(try await client(), of: user).serial
            : try await service.verifyKey(user, try await client(), device: deviceId).serial
        return Answer(
            "the key of '\(user.printable)' answered (\(serial.printable))",
            ["user": .string(user), "serial": .string(serial), "accepted": true])
    }
}

/// Shows registered keys.
struct SecondFactorDeviceStatus: SecondFactorUserVerb {
    static let about = About(
        "status", "Show whether a device is registered for a user, or all that are.",
        members: ["user", "registered", "devices"])

    @Argument("user", help: "The user's name.") var user: String

    @Argument("device", help: "The device: its name, serial number or container.") var device: String?

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let found = try await connection.service.devices(of: user, device)
        if let device, found.isEmpty { throw SecondFactorError.noSuchDevice(device) }
        if found.isEmpty { world.terminal.note("no keys are registered for '\(user.printable)'") }
        return Answer(
            Table.lines(found.map(\.row)),
            [
                "user": .string(user), "registered": .bool(found.contains(where: \.isUsable)),
                "devices": .array(found.map(\.listed)),
            ])
    }
}

/// Deletes a registered key.
struct SecondFactorDeviceRemove: SecondFactorUserVerb {
    static let about = About("rm", "Delete a device of a user from the server.", members: ["user", "serial"])

    @Argument("user", help: "The user's name.") var user: String

    @Argument("device", help: "The device: its name, serial number or container.") var device: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        try confirmation.ask("delete device '\(device.printable)' of '\(user.printable)'?", in: world)
        let token = try await connection.service.removeDevice(device, of: user)
        return Answer(
            "deleted \(token.serial.printable)", ["user": .string(user), "serial": .string(token.serial)])
    }
}
