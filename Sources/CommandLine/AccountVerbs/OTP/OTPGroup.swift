// SPDX-License-Identifier: Apache-2.0

package import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKInteraction
import YKOTP
import YKTransport
import YKWire

/// Commands for the Yubico OTP application.
package struct OTPGroup: ParsableCommand {
    package static let about = About(
        "Yubico OTP: the two slots of a key, and the tokens they produce.",
        subcommands: [
            "info": OTPInfo.self, "swap": OTPSwap.self, "delete": OTPDelete.self, "yubiotp": OTPYubiOTP.self,
            "static": OTPStatic.self, "chalresp": OTPChalResp.self, "hotp": OTPHOTP.self, "ndef": OTPNDEF.self,
            "settings": OTPSettingsUpdate.self, "calculate": OTPCalculate.self, "parse": OTPParse.self,
            "verify": OTPVerify.self,
        ],
        examples: [Example("ykit otp chalresp 2 --generate")])

    package init() {}
}

/// The state of the OTP application.
struct OTPReport: Report {
    let version: FirmwareVersion?
    let serial: UInt32?
    let carrier: OTPCarrier
    let slots: [SlotReport]
    let isLightInverted: Bool?
    let isFIPS: Bool?

    static let members: [Member<OTPReport>] = [
        Member("firmware") { $0.version?.description },
        Member("serial") { $0.serial.map { String($0) } },
        Member("interface", "hid or card") { $0.carrier.rawValue },
        Member("slots", rows: { $0.slots.map { ["slot \($0.slot.rawValue): \($0.state.words)"] } }) { $0.slots },
        Member(
            "lightInverted",
            rows: { $0.isLightInverted == true ? [["the light is off when idle"]] : [] }
        ) { $0.isLightInverted },
        Member("fipsMode", rows: { $0.isFIPS.map { [["FIPS approved mode: \($0 ? "yes" : "no")"]] } ?? [] }) {
            $0.isFIPS
        },
    ]
}

/// The state of a slot.
struct SlotReport: Report {
    let slot: OTPSlot
    let state: OTPSlotState

    static let members: [Member<SlotReport>] = [
        Member("slot") { String($0.slot.rawValue) },
        Member("programmed") { $0.state.isProgrammed },
        Member("touchTriggered") { $0.state.isTouchTriggered },
    ]
}

/// Shows the state of the slots.
struct OTPInfo: Verb {
    static let about = About(
        "Show which slots are in use, and what they do.",
        examples: [Example("ykit otp info")])

    func run(in run: Run) async throws -> Outcome<OTPReport> {
        let service = try await run.otp()
        let version = await service.version
        let serial = try await unlessRefused { try await service.serial() }
        let isFIPS = version?.major == 4 ? try await unlessRefused { try await service.isInFIPSMode() } : nil
        var slots: [SlotReport] = []
        for slot in OTPSlot.allCases { slots.append(SlotReport(slot: slot, state: await service.state(of: slot))) }
        let report = OTPReport(
            version: version, serial: serial, carrier: await service.carrier, slots: slots,
            isLightInverted: await service.status.isLightInverted, isFIPS: isFIPS)
        return Outcome(report, report.details)
    }
}

extension OTPSlotState {
    fileprivate var words: String {
        switch (isProgrammed, isTouchTriggered) {
        case (false, _): "empty"
        case (nil, _): "unknown: the firmware does not report it"
        case (true, true): "programmed, types when touched"
        case (true, false): "programmed, answers challenges"
        case (true, nil): "programmed"
        }
    }
}

/// Swaps the slots.
struct OTPSwap: Verb {
    static let about = About(
        "Swap the contents of the two slots.",
        examples: [Example("ykit otp swap")])
    static let answer = Shape<Void>()

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.otp()
        if await service.state(of: .one).isProgrammed == false, await service.state(of: .two).isProgrammed == false {
            throw Explanation("empty-slot", .notFound, "both slots are empty", hint: "ykit otp info")
        }
        try run.confirm("a short touch would use slot 2, and a long one slot 1: swap them?", unless: force)
        try await service.swap()
        await run.warn(unconfirmed: service)
        return Outcome(done: "the slots are swapped")
    }
}

/// Deletes the configuration of a slot.
struct OTPDelete: Verb {
    static let about = About(
        "Empty a slot. Its contents cannot be recovered.",
        examples: [Example("ykit otp delete 2")])
    static let answer = Shape(Item<OTPSlot>("slot") { String($0.rawValue) })

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var code: AccessCodeOptions

    func run(in run: Run) async throws -> Outcome<OTPSlot> {
        let service = try await run.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let access = try code.read(run)
        try run.confirm("the contents of slot \(slot.rawValue) would be permanently lost: empty it?", unless: force)
        try await service.delete(slot, access: access)
        await run.warn(unconfirmed: service)
        return Outcome(slot, "slot \(slot.rawValue) is empty")
    }
}

/// Updates the settings of a slot.
struct OTPSettingsUpdate: Verb {
    static let readsLines = true
    static let about = About(
        "Change a slot's typing settings or access code, and keep its secrets.",
        discussion: """
            Settings that are not given are reset to their defaults. If both access codes are read from standard input, \
            the first line is the current one, the second the new one.
            """,
        examples: [Example("ykit otp settings 2 --no-enter")])
    static let answer = Shape(Item<OTPSlot>("slot") { String($0.rawValue) })

    @OptionGroup var target: OTPProgramming
    @OptionGroup var typing: TypingOptions

    func run(in run: Run) async throws -> Outcome<OTPSlot> {
        let service = try await run.otp()
        let slot = target.slot
        let state = await service.state(of: slot)
        guard state.isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let (_, access) = try target.read(in: run) {}
        try run.confirm("all settings of slot \(slot.rawValue) would be replaced: continue?", unless: target.force)
        var settings = typing.settings
        if state.isTouchTriggered == false { settings.ticket = [] }
        try await service.update(slot, settings, access: access)
        await run.warn(unconfirmed: service)
        return Outcome(slot, "wrote the settings of slot \(slot.rawValue)")
    }
}

/// Configures the NDEF record that a key presents over NFC.
struct OTPNDEF: Verb {
    static let about = About(
        "Set the URL or text that NFC readers get, followed by a slot's token.",
        examples: [Example("ykit otp ndef 1"), Example("ykit otp ndef 1 --prefix https://example.com/otp/")])
    typealias Reported = (slot: OTPSlot, record: OTPNDEFRecord)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) }, Member("kind", "uri or text") { $0.record.parts.kind },
        Member("prefix") { $0.record.parts.prefix })

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Option(["--prefix <text>", "-p"], help: "The text before the token; https://my.yubico.com/yk/# by default.")
    var prefix: String?

    @Flag("--text", help: "Use plain text rather than a URL.") var text = false

    @Option("--language <code>", help: "The language of the text, en by default.") var language = "en"

    @OptionGroup var code: AccessCodeOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let record: OTPNDEFRecord =
            text ? .text(prefix ?? "", language: language) : prefix.map(OTPNDEFRecord.uri) ?? .standard
        try await service.setNDEF(record, for: slot, access: try code.read(run))
        await run.warn(unconfirmed: service)
        return Outcome(
            (slot: slot, record: record),
            "over NFC the key returns '\(record.parts.prefix.printable)' and the token of slot \(slot.rawValue)")
    }
}

extension OTPNDEFRecord {
    fileprivate var parts: (kind: String, prefix: String) {
        switch self {
        case .uri(let address): ("uri", address)
        case .text(let text, _): ("text", text)
        }
    }
}

/// Calculates a slot's response to a challenge.
struct OTPCalculate: Verb {
    static let about = About(
        "Send a challenge to a slot and show its response.",
        discussion: """
            The challenge is in hexadecimal; '-' reads it from a line of standard input. With --totp it is the time, \
            and the response is a code.
            """,
        examples: [
            Example("ykit otp calculate 2 00010203", "Send four bytes to a challenge-response slot."),
            Example("ykit otp calculate 2 --totp", "Calculate a TOTP code with the slot's key."),
        ])
    typealias Reported = (slot: OTPSlot, response: [UInt8]?, code: String?)
    static let answer = Shape<Reported>(
        Member("slot") { String($0.slot.rawValue) },
        Member("response", "in hexadecimal, null for a code") { $0.response.map { Hex.encode($0) } },
        Member("code") { $0.code })

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Argument("challenge", help: "The challenge, up to 64 bytes.", completion: .inputText) var challenge: String?

    @Flag(["-T", "--totp"], help: "Calculate a TOTP code.") var totp = false

    @Option(["--digits", "-d"], help: "Number of digits in a code: 6, 7 or 8.") var digits = 6

    @Option("--time <seconds>", help: "Show the code for this time, in seconds since 1970.") var time: Int64?

    @Option("--period", help: "How long a code is valid, in seconds.") var period: Int64 = 30

    @Flag("--yubico", help: "The slot answers with Yubico OTP blocks; the challenge has six bytes.") var yubico = false

    func check() throws {
        if totp, challenge != nil || yubico { throw UsageError("--totp cannot be combined with a challenge") }
        if !totp, challenge == nil { throw UsageError("give a challenge, or --totp") }
        if !(6...8).contains(digits) { throw UsageError("a code must have 6 to 8 digits") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.otp()
        let wait = await service.carrier == .card ? run.person.expectTouch(.required) : nil
        defer { wait?.end() }
        if totp {
            let code = try await service.code(slot, at: time ?? run.now, period: period, digits: digits)
            return Outcome((slot: slot, response: nil, code: code), code)
        }
        let bytes = try challengeBytes()
        let response = yubico ? try await service.challengeOTP(slot, bytes) : try await service.hmac(slot, bytes)
        return Outcome((slot: slot, response: response, code: nil), Hex.encode(response))
    }

    private func challengeBytes() throws -> [UInt8] {
        var text = challenge ?? ""
        if text == "-" { text = String(decoding: try SecretInput.line(from: 0).copyBytes(), as: UTF8.self) }
        guard let bytes = try? Hex.decode(text) else {
            throw Explanation.usage("the challenge is not hexadecimal", hint: "printf %s TEXT | xxd -p")
        }
        return bytes
    }
}
