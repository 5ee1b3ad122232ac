// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKKeys
import YKOATH
import YKWire

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
