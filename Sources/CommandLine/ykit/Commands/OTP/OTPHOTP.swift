// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOATH
import YKOTP
import YKWire

/// Programs HOTP.
struct OTPHOTP: Verb {
    static let about = About(
        "hotp", "Program a slot to type HOTP codes.",
        discussion: """
            The key is base 32, as services print it, and comes by prompt, --key-stdin, --key-fd or YKIT_OTP_KEY, or is \
            made up with --generate.
            """, members: ["slot", "digits", "counter", "identifier"])

    @OptionGroup var target: OTPProgramming

    @Option(name: .shortAndLong, help: "The digits of a code: 6 or 8.") var digits = 6

    @Option(name: .shortAndLong, help: "Where the counter starts: a multiple of 16 up to 1048560.") var counter = 0

    @Option(
        help: ArgumentHelp(
            "What is typed before each code: 12 characters of an OATH token identifier, its last 8, or its first 4 for "
                + "the serial number behind them; '-' for Yubico's.", valueName: "text"))
    var identifier: String?

    @OptionGroup var key: OTPKeyOptions
    @OptionGroup var typing: TypingOptions

    func check() throws {
        if digits != 6, digits != 8 { throw UsageError("a code has 6 or 8 digits") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        var form = OTPSlotContent.HOTP()
        form.hasEightDigits = digits == 8
        form.counter = counter
        if let identifier {
            let text = identifier == "-" ? OTPTokenIdentifier.yubico : identifier
            let serial = text.utf8.count == 4 ? try await service.serial() : nil
            form.identifier = try OTPTokenIdentifier(text, serial: serial)
        }
        let (secret, access) = try target.read(in: world) {
            try key.read("HOTP key", made: 20, base32: true, world)
        }
        try await target.write(.hotp(key: secret, form), typing.settings, access: access, to: service, in: world) {
            try key.disclosures("key", secret.value.withBytes { Base32.encode(Array($0)) })
        }
        return Answer(
            "slot \(target.slot.rawValue) types HOTP codes",
            [
                "slot": .int(Int64(target.slot.rawValue)), "digits": .int(Int64(digits)),
                "counter": .int(Int64(counter)),
                "identifier": identifier.map(JSON.string) ?? .null,
            ])
    }
}
