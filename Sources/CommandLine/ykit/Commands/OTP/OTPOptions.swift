// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKOTP
import YKWire

extension OTPSlot {
    /// Parses `1` or `2`.
    static func parse(_ text: String) throws -> OTPSlot {
        guard let slot = Int(text).flatMap({ OTPSlot(rawValue: $0) }) else {
            throw UsageError("a slot is 1 or 2, not '\(text.printable)'")
        }
        return slot
    }
}

enum AccessCode: SecretKind {
    static let name = SecretName("access-code", "slot's access code", "YKIT_OTP_ACCESS_CODE")
}

enum NewAccessCode: SecretKind {
    static let name = SecretName("new-access-code", "new access code", "YKIT_OTP_NEW_ACCESS_CODE")
}

enum OTPKey: SecretKind {
    static let name = SecretName("key", "key", "YKIT_OTP_KEY", alternative: "or --generate one")
}

/// The source of a slot's current access code. The user is asked for it only with --access-code.
struct AccessCodeOptions: ParsableArguments {
    static let title = "Access Code Options"

    @Flag(help: "Ask for the access code that the slot has: 12 hexadecimal digits.") var accessCode = false

    @OptionGroup var given: SecretOptions<AccessCode>

    /// Returns the code; `nil` for a slot without one.
    func read(_ world: World) throws -> OTPAccessCode? {
        return try Self.code(given.source, asks: accessCode ? "access code of the slot" : nil, world.terminal)
    }

    /// Returns a code from a source, or from a prompt if there is a question.
    static func code(
        _ source: SecretInput.Source, asks question: String?, _ terminal: Terminal
    ) throws -> OTPAccessCode? {
        switch try SecretInput.given(source, terminal) {
        case .secret(let text): return try OTPAccessCode(try OTPSecret.hex(text, "the access code"))
        case .none:
            guard let question else { return nil }
            let text = try Prompt(orElse: source.hint).secret(question + " (12 hexadecimal digits)")
            return try OTPAccessCode(try OTPSecret.hex(text, "the access code"))
        }
    }
}

/// The new access code of a slot.
struct NewAccessCodeOptions: ParsableArguments {
    static let title = "New Access Code"

    @Flag(help: "Ask for a new access code: 12 hexadecimal digits.") var newAccessCode = false

    @OptionGroup var given: SecretOptions<NewAccessCode>

    @Flag(help: "Remove the access code.") var removeAccessCode = false

    func check() throws {
        if removeAccessCode, newAccessCode || given.isGiven {
            throw UsageError("--remove-access-code takes no new one")
        }
    }

    /// Returns the change of the access code; by default it is kept.
    func access(from current: OTPAccessCode?, _ world: World) throws -> OTPAccess {
        if removeAccessCode { return OTPAccess(current: current, new: nil) }
        let question = newAccessCode ? "new access code" : nil
        guard let new = try AccessCodeOptions.code(given.source, asks: question, world.terminal) else {
            return .keeping(current)
        }
        return OTPAccess(current: current, new: new)
    }
}

/// The source of a slot's key.
struct OTPKeyOptions: ParsableArguments {
    static let title = "Key Options"

    @OptionGroup var given: SecretOptions<OTPKey>

    @Flag(name: .shortAndLong, help: "Generate a random key.") var generate = false

    @Option(
        help: ArgumentHelp("Where generated secrets go, instead of to the terminal.", valueName: "file"),
        completion: .file)
    var output: String?

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate takes no key") }
    }

    /// Returns the key: generated, given, or asked for.
    func read(_ question: String, made count: Int, base32: Bool = false, _ world: World) throws -> SharedSecret {
        if generate { return try OTPSecret.random(count, world) }
        return SharedSecret(try OTPSecret.read(given.source, question, world, base32: base32))
    }

    /// Returns the disclosures of a generated key.
    func disclosures(_ words: String, _ text: String) throws -> [Disclosure] {
        guard generate else { return [] }
        return [try Disclosure(words, SharedSecret(Secret(utf8: text)), in: output, orElse: OTPSecret.whereTo)]
    }
}
