// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKCrypto
import YKOATH
import YKOTP
import YKWire

/// Programs HOTP.
struct OTPHOTP: Verb {
    static let configuration = CommandConfiguration(
        commandName: "hotp", abstract: "Program a slot to type HOTP codes.",
        discussion: """
            The key is base 32, as services print it, and comes by prompt, --key-stdin, --key-fd or YKIT_OTP_KEY, or is \
            made up with --generate.
            """)
    static let members = ["slot", "digits", "counter", "identifier"]

    @Argument(help: "The slot, 1 or 2.", transform: OTPSlot.parse)
    var slot: OTPSlot

    @Option(name: .shortAndLong, help: "6 or 8.")
    var digits = 6

    @Option(name: .shortAndLong, help: "Where the counter starts: a multiple of 16 up to 1048560.")
    var counter = 0

    @Option(
        help: ArgumentHelp(
            "What is typed before each code: 12 characters of an OATH token identifier, its last 8, or its first 4 for "
                + "the serial number behind them; '-' for Yubico's.", valueName: "text"))
    var identifier: String?

    @OptionGroup(title: "Key Options")
    var key: OTPKeyOptions

    @Flag(name: .shortAndLong, help: "Do not ask before a slot is overwritten.")
    var force = false

    @OptionGroup(title: "Typing")
    var typing: TypingOptions

    @OptionGroup(title: "Access Code Options")
    var code: AccessCodeOptions

    @OptionGroup(title: "New Access Code")
    var newCode: NewAccessCodeOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func validate() throws {
        if digits != 6, digits != 8 { throw ValidationError("a code has 6 or 8 digits") }
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
        let current = try code.read(world)
        let secret = try key.read("HOTP key", made: 20, base32: true, world)
        let access = try newCode.access(from: current, world)
        try await world.confirm(writing: slot, of: service, force: force)
        try await service.program(slot, .hotp(key: secret, form), typing.settings, access: access)
        try key.show("key", Secret(utf8: secret.value.withBytes { Base32.encode(Array($0)) }), world)
        return Answer(
            "slot \(slot.rawValue) types HOTP codes",
            [
                "slot": .int(Int64(slot.rawValue)), "digits": .int(Int64(digits)), "counter": .int(Int64(counter)),
                "identifier": identifier.map(JSON.string) ?? .null,
            ])
    }
}
