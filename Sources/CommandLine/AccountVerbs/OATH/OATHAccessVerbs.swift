// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKKeys
import YKOATH
import YKWire

/// Commands for the password of the accounts.
struct OATHAccess: ParsableCommand {
    static let about = About(
        "access", "Manage the password that protects the accounts.",
        subcommands: [OATHAccessChange.self, OATHAccessRemember.self, OATHAccessForget.self])
}

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

    @Flag(["--clear", "-c"], help: "Remove the password.") var clear = false

    @Flag(["--remember", "-r"], help: "Remember the new password on this computer.") var remember = false

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

/// Remembers the password of a key on this computer.
struct OATHAccessRemember: Verb {
    static let about = About(
        "remember", "Remember the password on this computer.",
        discussion: """
            The Secret Service of the desktop session keeps it where there is one. Otherwise it is stored in a file \
            that only its owner may read, encrypted under a second such file and this machine's id: that protects it \
            from other users and in copies of the file, not from programs that run as you.
            """, members: ["deviceId", "place"])

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openOATH()
        let info = await service.info
        guard info.hasPassword else {
            throw Explanation(
                "no-password", .notFound, "no password is set on this key", hint: "ykit oath access change")
        }
        let secret = try secret(world.terminal)
        let key = try AccessKey(password: secret, salt: info.salt)
        try await service.unlock(with: key.copy())
        let keyring = try world.keyring()
        var raw = key.copyBytes()
        defer { Secret.wipe(&raw) }
        try keyring.remember(Secret(raw), for: info.deviceID)
        return Answer(
            "remembered for \(info.deviceID) in \(keyring.place)",
            ["deviceId": .string(info.deviceID), "place": .string(keyring.place)])
    }

    private func secret(_ terminal: Terminal) throws -> Secret {
        try password.source.read(terminal, asking: "password of the OATH accounts")
    }
}

/// Forgets remembered passwords.
struct OATHAccessForget: Verb {
    static let about = About("forget", "Forget the password on this computer.", members: ["forgotten"])

    @Flag(["--all", "-a"], help: "Forget the passwords of all keys; no key needs to be attached.") var all = false

    func answer(in world: World) async throws -> Answer {
        let keyring = try world.keyring()
        if all {
            let count = try keyring.forgetAll()
            let what = count.map { "forgot \($0)" } ?? "forgot all"
            return Answer("\(what) in \(keyring.place)", ["forgotten": count.map { .int(Int64($0)) } ?? .null])
        }
        let info = await (try world.openOATH()).info
        let found = try keyring.forget(info.deviceID)
        let line = found ? "forgot the password of \(info.deviceID)" : "no password of \(info.deviceID) was remembered"
        return Answer(line, ["forgotten": .int(found ? 1 : 0)])
    }
}
