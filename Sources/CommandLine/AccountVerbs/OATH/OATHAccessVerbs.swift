// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKOATH

/// Commands for the password of the accounts.
struct OATHAccess: ParsableCommand {
    static let about = About(
        "Manage the password that protects the accounts.",
        subcommands: [
            "change": OATHAccessChange.self, "remember": OATHAccessRemember.self, "forget": OATHAccessForget.self,
        ],
        examples: [Example("ykit oath access change")])
}

enum NewOATHPassword: SecretKind {
    static let name = SecretName("new-password", "new password", "YKIT_OATH_NEW_PASSWORD")
}

/// Sets, changes or removes the password.
struct OATHAccessChange: Verb {
    static let readsLines = true
    static let about = About(
        "Set, change or remove the password.",
        discussion: """
            If both passwords are read from standard input, the first line is the current one, the second the new one.
            """,
        examples: [
            Example("ykit oath access change"),
            Example("ykit oath access change --remember", "Also remember the new password on this computer."),
        ])
    typealias Reported = (deviceID: String, hasPassword: Bool, isRemembered: Bool)
    static let answer = Shape<Reported>(
        Member("deviceId") { $0.deviceID }, Member("hasPassword") { $0.hasPassword },
        Member("remembered", "whether this computer has the password") { $0.isRemembered })

    @OptionGroup var new: SecretOptions<NewOATHPassword>

    @Flag(["--clear", "-c"], help: "Remove the password.") var clear = false

    @Flag(["--remember", "-r"], help: "Remember the new password on this computer.") var remember = false

    @OptionGroup var password: PasswordOptions

    func check() throws {
        if clear, new.isGiven || remember {
            throw UsageError("--clear cannot be combined with a new password")
        }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.oath(password)
        let info = await service.info
        if clear {
            try await service.removeAccessKey()
            _ = try? run.keyring().forget(info.deviceID)
            return Outcome(
                (deviceID: info.deviceID, hasPassword: false, isRemembered: false),
                "password removed")
        }
        let password = try new.source.readNew(run.terminal, asking: "new password of the OATH accounts")
        try await service.setAccessKey(try AccessKey(password: password, salt: info.salt))
        let isRemembered = try refresh(try AccessKey(password: password, salt: info.salt), info, run)
        return Outcome(
            (deviceID: info.deviceID, hasPassword: true, isRemembered: isRemembered),
            "password set" + (isRemembered ? " and remembered" : ""))
    }

    /// Remembers the new key if requested, or if the old one was remembered.
    private func refresh(_ key: consuming AccessKey, _ info: OATHInfo, _ run: Run) throws -> Bool {
        let keyring = try run.keyring()
        guard try remember || keyring.holds(info.deviceID) else { return false }
        var raw = key.copyBytes()
        defer { Secret.wipe(&raw) }
        try run.perform { try keyring.remember(Secret(raw), for: info.deviceID) }
        return true
    }
}

/// Remembers the password of a key on this computer.
struct OATHAccessRemember: Verb {
    static let about = About(
        "Remember the password on this computer.",
        discussion: """
            It is kept in the Secret Service of the desktop session, if there is one. Otherwise it is stored in a file \
            that only its owner can read, encrypted with a second such file and this machine's ID: this protects it \
            from other users, and in copies of that file alone, but not from programs that run as you.
            """,
        examples: [Example("ykit oath access remember")])
    typealias Reported = (deviceID: String, place: String)
    static let answer = Shape<Reported>(Member("deviceId") { $0.deviceID }, Member("place") { $0.place })

    @OptionGroup var password: PasswordOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.open(OATHService.self)
        let info = await service.info
        guard info.hasPassword else {
            throw Explanation(
                "no-password", .notFound, "no password is set on this key", hint: "ykit oath access change")
        }
        let secret = try secret(run.terminal)
        let key = try AccessKey(password: secret, salt: info.salt)
        try await service.unlock(with: key.copy())
        let keyring = try run.keyring()
        var raw = key.copyBytes()
        defer { Secret.wipe(&raw) }
        try keyring.remember(Secret(raw), for: info.deviceID)
        return Outcome(
            (deviceID: info.deviceID, place: keyring.place),
            "remembered for \(info.deviceID) in \(keyring.place)")
    }

    private func secret(_ terminal: Terminal) throws -> Secret {
        try password.source.read(terminal, asking: "password of the OATH accounts")
    }
}

/// Forgets remembered passwords.
struct OATHAccessForget: Verb {
    static let about = About(
        "Forget the password on this computer.",
        examples: [Example("ykit oath access forget"), Example("ykit oath access forget --all")])
    static let answer = Shape(Item<Int?>("forgotten", "how many, null if the keyring does not report it"))

    @Flag(["--all", "-a"], help: "Forget the passwords of all keys; no key needs to be attached.") var all = false

    func run(in run: Run) async throws -> Outcome<Int?> {
        let keyring = try run.keyring()
        if all {
            try run.endPlan("forget all passwords in \(keyring.place)")
            let count = try keyring.forgetAll()
            let what = count.map { "forgot \($0)" } ?? "forgot all"
            return Outcome(count, "\(what) in \(keyring.place)")
        }
        let info = await (try run.open(OATHService.self)).info
        try run.endPlan("forget the password for \(info.deviceID) in \(keyring.place)")
        let found = try keyring.forget(info.deviceID)
        let line =
            found ? "forgot the password for \(info.deviceID)" : "no password was remembered for \(info.deviceID)"
        return Outcome(found ? 1 : 0, line)
    }
}
