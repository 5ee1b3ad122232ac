// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKOTP
import YKTransport
import YKWire

extension OTPSlot {
    /// Parses `1` or `2`.
    static func parse(_ text: String) throws -> OTPSlot {
        guard let slot = Int(text).flatMap({ OTPSlot(rawValue: $0) }) else {
            throw UsageError("a slot must be 1 or 2, not '\(text.printable)'")
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

    @Flag("--access-code", help: "Prompt for the slot's current access code: 12 hexadecimal digits.")
    var accessCode = false

    @OptionGroup var given: SecretOptions<AccessCode>

    /// Returns the code; `nil` for a slot without one.
    func read(_ run: Run) throws -> OTPAccessCode? {
        return try Self.code(given.source, asks: accessCode ? "access code of the slot" : nil, run.terminal)
    }

    /// Returns a code from a source, or from a prompt if `question` is given.
    static func code(
        _ source: SecretInput.Source, asks question: String?, _ terminal: Terminal
    ) throws -> OTPAccessCode? {
        guard source.isGiven(terminal) || question != nil else { return nil }
        let text = try source.read(terminal, asking: (question ?? "access code") + " (12 hexadecimal digits)")
        return try OTPAccessCode(try OTPSecret.hex(text, "the access code"))
    }
}

/// The new access code of a slot.
struct NewAccessCodeOptions: ParsableArguments {
    static let title = "New Access Code"

    @Flag("--new-access-code", help: "Prompt for a new access code: 12 hexadecimal digits.") var newAccessCode = false

    @OptionGroup var given: SecretOptions<NewAccessCode>

    @Flag("--remove-access-code", help: "Remove the access code.") var removeAccessCode = false

    func check() throws {
        if removeAccessCode, newAccessCode || given.isGiven {
            throw UsageError("--remove-access-code cannot be combined with a new access code")
        }
    }

    /// Returns the change of the access code; by default it is kept.
    func access(from current: OTPAccessCode?, _ run: Run) throws -> OTPAccess {
        if removeAccessCode { return OTPAccess(current: current, new: nil) }
        let question = newAccessCode ? "new access code" : nil
        guard let new = try AccessCodeOptions.code(given.source, asks: question, run.terminal) else {
            return .keeping(current)
        }
        return OTPAccess(current: current, new: new)
    }
}

/// The source of a slot's key.
struct OTPKeyOptions: ParsableArguments {
    static let title = "Key Options"

    @OptionGroup var given: SecretOptions<OTPKey>

    @Flag(["--generate", "-g"], help: "Generate a random key.") var generate = false

    @Option("--output <file>", help: "Write generated secrets to this file instead of to the terminal.")
    var output: String?

    func check() throws {
        if generate, given.isGiven { throw UsageError("--generate cannot be combined with a key") }
    }

    /// Returns the key: generated, given, or asked for.
    func read(_ question: String, made count: Int, base32: Bool = false, _ run: Run) throws -> SharedSecret {
        if generate { return try OTPSecret.random(count, run) }
        return SharedSecret(try OTPSecret.read(given.source, question, run, base32: base32))
    }

    /// Returns the disclosures of a generated key.
    func disclosures(_ words: String, _ text: String, _ run: Run) throws -> [Disclosure] {
        guard generate else { return [] }
        return [
            try Disclosure(
                words, SharedSecret(Secret(utf8: text)), in: output, orElse: OTPSecret.whereTo, run.terminal)
        ]
    }
}

/// Slot secrets as text: hexadecimal digits, or base32 as services print it.
enum OTPSecret {
    /// Returns a secret, given or asked for.
    static func read(
        _ source: SecretInput.Source, _ question: String, _ run: Run, base32: Bool = false
    ) throws -> Secret {
        let form = base32 ? "base 32" : "hexadecimal"
        return try decode(try source.read(run.terminal, asking: "\(question) (\(form))"), question, base32: base32)
    }

    /// Accepts the other encoding if the text cannot be in the expected one.
    private static func decode(_ text: borrowing Secret, _ what: String, base32: Bool) throws -> Secret {
        if base32 {
            if let secret = unbase(text) { return secret }
        } else {
            if let secret = try? hex(text, what) { return secret }
            if let secret = unbase(text) { return secret }
        }
        throw Explanation.usage("\(what) is not \(base32 ? "base 32" : "hexadecimal")")
    }

    /// Decodes pairs of hexadecimal digits.
    static func hex(_ text: borrowing Secret, _ what: String) throws -> Secret {
        var characters = text.copyBytes()
        defer { Secret.wipe(&characters) }
        guard var bytes = try? Hex.decode(String(decoding: characters, as: UTF8.self)), !bytes.isEmpty else {
            throw Explanation.usage("\(what) is not hexadecimal")
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    private static func unbase(_ text: borrowing Secret) -> Secret? {
        var characters = text.copyBytes()
        defer { Secret.wipe(&characters) }
        guard var bytes = try? Base32.decode(String(decoding: characters, as: UTF8.self)), !bytes.isEmpty else {
            return nil
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    /// Generates a secret.
    static func random(_ count: Int, _ run: Run) throws -> SharedSecret {
        var bytes = try run.environment.random.draw(count, secret: true)
        defer { Secret.wipe(&bytes) }
        return SharedSecret(Secret(bytes))
    }

    /// The hint for showing a secret without a terminal.
    static let whereTo = "write it to a file with --output"
}

/// The typing settings of a slot, and its other settings.
struct TypingOptions: ParsableArguments {
    static let title = "Typing"

    @Flag("--enter", inversion: .prefixedNo, help: "Press Enter at the end.") var enter = true

    @Option("--pacing <ms>", help: "Pause between characters, in milliseconds: 0, 20, 40 or 60.") var pacing = 0

    @Option("--tab <place>", help: "Press Tab: first, after-first or after-second part; may be repeated.")
    var tab: [TabPlace] = []

    @Option("--delay <place>", help: "Wait half a second: after-first or after-second part; may be repeated.")
    var delay: [DelayPlace] = []

    @Flag("--numeric-keypad", help: "Type digits on the numeric keypad.") var numericKeypad = false

    @Flag("--fast-trigger", inversion: .prefixedNo, help: "Allow a short touch when only slot 1 is in use.")
    var fastTrigger = true

    @Flag("--serial-at-start", help: "Type the serial number if the key is touched while it is being plugged in.")
    var serialAtStart = false

    @Flag("--serial-in-usb", help: "Show the serial number in the USB descriptor.") var serialInUsb = false

    @Flag("--serial-by-command", inversion: .prefixedNo, help: "Let programs read the serial number.")
    var serialByCommand = true

    @Flag("--dormant", help: "Keep the slot dormant until its settings are updated.") var dormant = false

    @Flag("--invert-light", help: "Keep the light off while the key is idle.") var invertLight = false

    @Flag("--updates", inversion: .prefixedNo, help: "Allow later updates of the settings.") var updates = true

    /// Where the key can type a Tab.
    enum TabPlace: String, CaseIterable, ExpressibleByArgument {
        case first
        case afterFirst = "after-first"
        case afterSecond = "after-second"
    }

    /// Where the key can pause while it types.
    enum DelayPlace: String, CaseIterable, ExpressibleByArgument {
        case afterFirst = "after-first"
        case afterSecond = "after-second"
    }

    func check() throws {
        if OTPSettings.Pacing(rawValue: pacing) == nil { throw UsageError("--pacing must be 0, 20, 40 or 60") }
    }

    /// The settings.
    var settings: OTPSettings {
        var settings = OTPSettings()
        settings.ticket = enter ? .enter : []
        for place in tab {
            switch place {
            case .first: settings.ticket.insert(.tabFirst)
            case .afterFirst: settings.ticket.insert(.tabAfterFirst)
            case .afterSecond: settings.ticket.insert(.tabAfterSecond)
            }
        }
        for place in delay { settings.ticket.insert(place == .afterFirst ? .delayAfterFirst : .delayAfterSecond) }
        settings.pacing = OTPSettings.Pacing(rawValue: pacing) ?? .none
        settings.extended = []
        let extended: [(Bool, OTPExtendedFlags)] = [
            (serialAtStart, .serialAtStart), (serialInUsb, .serialInUSB), (serialByCommand, .serialByCommand),
            (numericKeypad, .numericKeypad), (fastTrigger, .fastTrigger), (updates, .allowsUpdate),
            (dormant, .dormant), (invertLight, .invertedLight),
        ]
        for (isSet, flag) in extended where isSet { settings.extended.insert(flag) }
        return settings
    }
}

extension Run {
    /// Opens the OTP application of the selected key; reports when it waits for a touch.
    func otp() async throws -> OTPService {
        let touch = { @Sendable [terminal] in
            guard (try? await Task.sleep(for: TouchReason.delay)) != nil else { return }
            terminal.say(TouchPrompt.standard)
        }
        return try await choosing { try await $0.open(OTPService.self, touch: touch) }
    }

    /// Asks before overwriting a slot that is or may be in use.
    func confirm(writing slot: OTPSlot, of service: OTPService, force: Bool) async throws {
        let isProgrammed = await service.state(of: slot).isProgrammed
        let contents =
            isProgrammed == nil
            ? "slot \(slot.rawValue) may be in use; its contents" : "the contents of slot \(slot.rawValue)"
        try confirm(
            "\(contents) would be permanently lost: overwrite them?", unless: force || isProgrammed == false)
    }

    /// Warns after a write that the key cannot confirm.
    func warn(unconfirmed service: OTPService) async {
        guard await !service.status.isReliable else { return }
        terminal.warn(
            "unconfirmed",
            "the key accepted the command; its firmware does not report over a card whether the slots changed")
    }
}
