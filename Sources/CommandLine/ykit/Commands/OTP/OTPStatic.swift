// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOTP
import YKTransport
import YKWire

enum StaticPassword: SecretKind {
    static let name = SecretName("password", "password", "YKIT_OTP_PASSWORD", alternative: "or --generate one")
}

/// Programs a static password.
struct OTPStatic: Verb {
    static let about = About(
        "static", "Program a slot to type a static password.",
        discussion: """
            A key types positions, not characters: name the layout that the computer is set to. With modhex, the usual \
            one, only the letters \(Modhex.alphabet) can be had, which are in the same places of nearly all layouts. \
            The password comes by prompt, --password-stdin, --password-fd or YKIT_OTP_PASSWORD, or is made up with \
            --generate.
            """, members: ["slot", "layout", "length"])

    @OptionGroup var target: OTPProgramming

    @Option(
        name: .shortAndLong,
        help: "The keyboard layout of a static password: \(MessageOptions.layouts).") var layout: LayoutChoice = .modhex

    @OptionGroup var given: SecretOptions<StaticPassword>

    @Flag(name: .shortAndLong, help: "Generate a random password.") var generate = false

    @Option(help: "The length of the generated password, up to 38.") var length = 38

    @Option(
        help: ArgumentHelp("Where generated secrets go, instead of to the terminal.", valueName: "file"),
        completion: .file)
    var output: String?

    @OptionGroup var typing: TypingOptions

    /// The layouts by name.
    enum LayoutChoice: String, CaseIterable, ExpressibleByArgument {
        case modhex, us, uk, de, fr, it, bepo, norman

        var layout: KeyboardLayout { KeyboardLayout(rawValue: rawValue) ?? .modhex }
    }

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate takes no password") }
        if output != nil, !generate { throw UsageError("--output needs --generate") }
        if !(1...OTPSlotContent.scanCodeLimit).contains(length) { throw UsageError("--length is 1 to 38") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let ((password, codes), access) = try target.read(in: world) {
            let password = SharedSecret(try self.password(world))
            return (password, try scanCodes(password.value))
        }
        let count = codes.value.count
        let content = OTPSlotContent.staticPassword(scanCodes: codes)
        try await target.write(content, typing.settings, access: access, to: service, in: world) {
            try generate ? [Disclosure("password", password, in: output, orElse: OTPSecret.whereTo)] : []
        }
        return Answer(
            "slot \(target.slot.rawValue) types a password of \(count) characters",
            [
                "slot": .int(Int64(target.slot.rawValue)), "layout": .string(layout.rawValue),
                "length": .int(Int64(count)),
            ])
    }

    private func password(_ world: World) throws -> Secret {
        if generate { return try layout.layout.password(length: length, random: world.environment.random) }
        return try given.source.readNew(world.terminal, asking: "static password")
    }

    private func scanCodes(_ password: borrowing Secret) throws -> SharedSecret {
        var bytes = password.copyBytes()
        defer { Secret.wipe(&bytes) }
        do {
            var codes = try layout.layout.scanCodes(String(decoding: bytes, as: UTF8.self))
            defer { Secret.wipe(&codes) }
            return SharedSecret(Secret(codes))
        } catch {
            throw Explanation.usage(
                "character \(error.offset + 1) of the password is on no key of the layout \(layout.rawValue)",
                hint: "name the layout of the computer with --layout")
        }
    }
}
