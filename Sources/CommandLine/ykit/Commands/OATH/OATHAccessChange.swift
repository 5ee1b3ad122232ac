// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKKeys
import YKOATH
import YKWire

enum NewOATHPassword: SecretKind {
    static let name = SecretName("new-password", "new password", "YKIT_OATH_NEW_PASSWORD")
}

/// Sets, changes or removes the password.
struct OATHAccessChange: Verb {
    static let about = About(
        "change", "Set, change or remove the password.",
        discussion: """
            When both passwords are read from standard input, the first line is the current one, the second the new one.
            """, members: ["deviceId", "hasPassword", "remembered"])

    @OptionGroup var new: SecretOptions<NewOATHPassword>

    @Flag(name: .shortAndLong, help: "Remove the password.") var clear = false

    @Flag(name: .shortAndLong, help: "Remember the new password on this computer.") var remember = false

    @OptionGroup var password: PasswordOptions

    func check() throws {
        if clear, new.isGiven || remember {
            throw UsageError("--clear takes no new password")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let info = await service.info
        if clear {
            try await service.removeAccessKey()
            _ = try? world.keyring().forget(info.deviceID)
            return done("the password is removed", info, hasPassword: false, isRemembered: false)
        }
        let password = try new.source.readNew(world.terminal, asking: "new password of the OATH accounts")
        try await service.setAccessKey(try AccessKey(password: password, salt: info.salt))
        let isRemembered = try refresh(try AccessKey(password: password, salt: info.salt), info, world)
        return done("the password is set", info, hasPassword: true, isRemembered: isRemembered)
    }

    /// Remembers the new key if requested, or if the old one was remembered.
    private func refresh(_ key: consuming AccessKey, _ info: OATHInfo, _ world: World) throws -> Bool {
        let keyring = try world.keyring()
        guard try remember || keyring.holds(info.deviceID), world.plan == nil else { return false }
        var raw = key.copyBytes()
        defer { Secret.wipe(&raw) }
        try keyring.remember(Secret(raw), for: info.deviceID)
        return true
    }

    private func done(_ line: String, _ info: OATHInfo, hasPassword: Bool, isRemembered: Bool) -> Answer {
        Answer(
            line + (isRemembered ? " and remembered" : ""),
            [
                "deviceId": .string(info.deviceID), "hasPassword": .bool(hasPassword),
                "remembered": .bool(isRemembered),
            ])
    }
}
