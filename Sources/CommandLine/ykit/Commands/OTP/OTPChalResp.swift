// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOATH
import YKOTP
import YKWire

/// Programs challenge-response.
struct OTPChalResp: Verb {
    static let about = About(
        "chalresp", "Program a slot for challenge-response.",
        discussion: """
            With HMAC-SHA-1 the key has up to 20 bytes, with --yubico 16. It is hexadecimal, or base 32 with --totp, and \
            comes by prompt, --key-stdin, --key-fd or YKIT_OTP_KEY, or is made up with --generate. For KeePassXC program the \
            slot without --full-challenges and --yubico, and a second key with the same secret: a database cannot be \
            opened without it.
            """, members: ["slot", "touch", "kind"])

    @OptionGroup var target: OTPProgramming

    @Flag(name: .shortAndLong, help: "Ask for a touch before each answer.") var touch = false

    @Flag(name: [.customShort("T"), .long], help: "The key is base 32, as services print it for TOTP.") var totp = false

    @Flag(help: "Answer with Yubico OTP blocks rather than HMACs.") var yubico = false

    @Flag(help: "Take challenges of 64 bytes only, zeros at their end included.") var fullChallenges = false

    @OptionGroup var key: OTPKeyOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let (secret, access) = try target.read(in: world) {
            try key.read(yubico ? "AES key" : "HMAC key", made: yubico ? 16 : 20, base32: totp, world)
        }
        let content: OTPSlotContent =
            yubico
            ? .challengeOTP(key: secret, needsTouch: touch)
            : .hmac(key: secret, needsTouch: touch, takesShortChallenges: !fullChallenges)
        try await target.write(content, access: access, to: service, in: world) {
            try key.disclosures("key", secret.value.withBytes { totp ? Base32.encode(Array($0)) : Hex.encode($0) })
        }
        return Answer(
            "slot \(target.slot.rawValue) answers challenges" + (touch ? " when touched" : ""),
            [
                "slot": .int(Int64(target.slot.rawValue)), "touch": .bool(touch),
                "kind": .string(yubico ? "yubico-otp" : "hmac-sha1"),
            ])
    }
}
