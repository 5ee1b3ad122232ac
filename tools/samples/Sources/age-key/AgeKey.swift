// SPDX-License-Identifier: Apache-2.0

import YKAge
import YKit

/// Wraps a file key of age for the key in PIV slot 82, and unwraps it with that key: `age-key [--virtual]`.
@main
struct AgeKey {
    enum Problem: Error {
        case unsupportedKey, unknownStanza
    }

    static func main() async throws {
        let isVirtual = CommandLine.arguments.contains("--virtual")
        let key = try await (isVirtual ? KeyRing(source: .virtual(.demonstration())) : KeyRing()).only()
        let piv = try await key.open(PIVService.self)
        let slot = PIVSlot.retired[0]
        if isVirtual {
            try await piv.authenticate(with: .defaultKey())
            _ = try await piv.generateKey(slot, .p256)
        }
        guard let publicKey = AgePublicKey(try await piv.publicKey(slot)) else { throw Problem.unsupportedKey }
        print(publicKey.recipient.text())

        let fileKey = Secret(SystemRandom().draw(AgeWrapping.fileKeySize, secret: true))
        let stanza = try wrapped(fileKey, for: publicKey.recipient)
        print(String(decoding: stanza.encoded, as: UTF8.self), terminator: "")

        guard let wrapping = try AgeWrapping(stanza) else { throw Problem.unknownStanza }
        try await piv.verify(try pin(isVirtual))
        let secret = try await piv.derive(with: try wrapping.peer(), slot)
        guard let unwrapped = try wrapping.fileKey(secret.value, of: publicKey) else {
            print("the file key is wrapped for another key")
            return
        }
        print(unwrapped.value == fileKey ? "unwrapped with slot \(slot)" : "unwrapped another file key")
        await piv.close()
    }

    /// Does what age does to encrypt a file: anyone can who has the recipient.
    private static func wrapped(_ fileKey: borrowing Secret, for recipient: AgeRecipient) throws -> AgeStanza {
        let ephemeral = Secret(SystemRandom().draw(32, secret: true))
        return try AgeWrapping(fileKey, for: recipient, ephemeral: ephemeral).stanza
    }

    private static func pin(_ isVirtual: Bool) throws -> PIVPIN {
        if isVirtual { return .defaultPIN() }
        print("PIN:")
        return try PIVPIN(Secret(utf8: readLine() ?? ""))
    }
}
