// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOATH
import YKWire

/// Sets, changes or removes the password.
struct OATHAccessChange: Verb {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Set, change or remove the password.",
        discussion: """
            When both passwords are read from standard input, the first line is the current one, the second the new one.
            The new one is also taken from YKIT_OATH_NEW_PASSWORD.
            """)
    static let members = ["deviceId", "hasPassword", "remembered"]

    @Flag(help: "Read the new password from standard input, one line.")
    var newPasswordStdin = false

    @Option(help: ArgumentHelp("Read the new password from this open file descriptor.", valueName: "n"))
    var newPasswordFd: Int32?

    @Flag(name: .shortAndLong, help: "Remove the password.")
    var clear = false

    @Flag(name: .shortAndLong, help: "Remember the new password on this computer.")
    var remember = false

    @OptionGroup var password: PasswordOptions

    func check() throws {
        if clear, newPasswordStdin || newPasswordFd != nil || remember {
            throw UsageError("--clear takes no new password")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let info = await service.info
        if clear {
            try await service.removeAccessKey()
            _ = try? Keyrings.standard(in: world).forget(info.deviceID)
            return done("the password is removed", info, hasPassword: false, isRemembered: false)
        }
        let new = try newPassword(world.terminal)
        try await service.setAccessKey(try AccessKey(password: new, salt: info.salt))
        let isRemembered = try refresh(try AccessKey(password: new, salt: info.salt), info, world)
        return done("the password is set", info, hasPassword: true, isRemembered: isRemembered)
    }

    /// Remembers the new key if requested, or if the old one was remembered.
    private func refresh(_ key: consuming AccessKey, _ info: OATHInfo, _ world: World) throws -> Bool {
        let keyring = try Keyrings.standard(in: world)
        guard try remember || keyring.holds(info.deviceID), world.plan == nil else { return false }
        var raw = key.copyBytes()
        defer { Secret.wipe(&raw) }
        try keyring.remember(Secret(raw), for: info.deviceID)
        return true
    }

    private func newPassword(_ terminal: Terminal) throws -> Secret {
        var options = PasswordOptions()
        options.passwordStdin = newPasswordStdin
        options.passwordFd = newPasswordFd
        switch try SecretInput.given(options, variable: "YKIT_OATH_NEW_PASSWORD", terminal) {
        case .secret(let secret): return secret
        case .none:
            let hint = "give it with --new-password-stdin, --new-password-fd N or YKIT_OATH_NEW_PASSWORD"
            return try Prompt(orElse: hint).newSecret("new password of the OATH accounts")
        }
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
