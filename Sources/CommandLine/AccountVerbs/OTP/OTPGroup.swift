// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKOTP
import YKTransport
import YKWire

/// Commands for the Yubico OTP application.
struct OTPGroup: ParsableCommand {
    static let about = About(
        "otp", "Yubico OTP: the two slots of a key, and the tokens they produce.",
        subcommands: [
            OTPInfo.self, OTPSwap.self, OTPDelete.self, OTPYubiOTP.self, OTPStatic.self, OTPChalResp.self, OTPHOTP.self,
            OTPNDEF.self, OTPSettingsUpdate.self, OTPCalculate.self, OTPParse.self, OTPVerify.self,
        ],
        examples: [Example("ykit otp chalresp 2 --generate")])
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
        Member("slots") { $0.slots },
        Member("lightInverted") { $0.isLightInverted },
        Member("fipsMode") { $0.isFIPS },
    ]

    /// The lines.
    var lines: [String] {
        slots.map { "slot \($0.slot.rawValue): \($0.state.words)" }
            + (isLightInverted == true ? ["the light is off when idle"] : [])
            + (isFIPS.map { ["FIPS approved mode: \($0 ? "yes" : "no")"] } ?? [])
    }
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
        "info", "Show which slots are in use, and what they do.",
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
        return Outcome(report, report.lines)
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

/// The slots after a swap.
struct SwappedSlots: Report {
    static let members: [Member<SwappedSlots>] = []
}

/// Swaps the slots.
struct OTPSwap: Verb {
    static let about = About(
        "swap", "Swap the contents of the two slots.",
        examples: [Example("ykit otp swap")])

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func run(in run: Run) async throws -> Outcome<SwappedSlots> {
        let service = try await run.otp()
        if await service.state(of: .one).isProgrammed == false, await service.state(of: .two).isProgrammed == false {
            throw Explanation("empty-slot", .notFound, "both slots are empty", hint: "ykit otp info")
        }
        try run.confirm("a short touch would use slot 2, and a long one slot 1: swap them?", unless: force)
        try await service.swap()
        await run.warn(unconfirmed: service)
        return Outcome(SwappedSlots(), "the slots are swapped")
    }
}

/// A slot that was emptied, or whose settings were changed.
struct ChangedSlot: Report {
    let slot: OTPSlot

    static let members: [Member<ChangedSlot>] = [Member("slot") { String($0.slot.rawValue) }]
}

/// Deletes the configuration of a slot.
struct OTPDelete: Verb {
    static let about = About(
        "delete", "Empty a slot. Its contents cannot be recovered.",
        examples: [Example("ykit otp delete 2")])

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var code: AccessCodeOptions

    func run(in run: Run) async throws -> Outcome<ChangedSlot> {
        let service = try await run.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let access = try code.read(run)
        try run.confirm("the contents of slot \(slot.rawValue) would be permanently lost: empty it?", unless: force)
        try await service.delete(slot, access: access)
        await run.warn(unconfirmed: service)
        return Outcome(ChangedSlot(slot: slot), "slot \(slot.rawValue) is empty")
    }
}

/// Updates the settings of a slot.
struct OTPSettingsUpdate: Verb {
    static let readsLines = true
    static let about = About(
        "settings", "Change a slot's typing settings or access code, and keep its secrets.",
        discussion: """
            Settings that are not given are reset to their defaults. If both access codes are read from standard input, \
            the first line is the current one, the second the new one.
            """,
        examples: [Example("ykit otp settings 2 --no-enter")])

    @OptionGroup var target: OTPProgramming
    @OptionGroup var typing: TypingOptions

    func run(in run: Run) async throws -> Outcome<ChangedSlot> {
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
        return Outcome(ChangedSlot(slot: slot), "wrote the settings of slot \(slot.rawValue)")
    }
}

/// What a key presents over NFC before the token of a slot.
struct SlotNDEF: Report {
    let slot: OTPSlot
    let record: OTPNDEFRecord

    static let members: [Member<SlotNDEF>] = [
        Member("slot") { String($0.slot.rawValue) },
        Member("kind", "uri or text") { $0.kind },
        Member("prefix") { $0.prefix },
    ]

    private var kind: String { if case .uri = record { "uri" } else { "text" } }

    var prefix: String {
        switch record {
        case .uri(let address): address
        case .text(let text, _): text
        }
    }
}

/// Configures the NDEF record that a key presents over NFC.
struct OTPNDEF: Verb {
    static let about = About(
        "ndef", "Set the URL or text that NFC readers get, followed by a slot's token.",
        examples: [Example("ykit otp ndef 1"), Example("ykit otp ndef 1 --prefix https://example.com/otp/")])

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Option(["--prefix <text>", "-p"], help: "The text before the token; https://my.yubico.com/yk/# by default.")
    var prefix: String?

    @Flag("--text", help: "Use plain text rather than a URL.") var text = false

    @Option("--language <code>", help: "The language of the text, en by default.") var language = "en"

    @OptionGroup var code: AccessCodeOptions

    func run(in run: Run) async throws -> Outcome<SlotNDEF> {
        let service = try await run.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let record: OTPNDEFRecord =
            text ? .text(prefix ?? "", language: language) : prefix.map(OTPNDEFRecord.uri) ?? .standard
        try await service.setNDEF(record, for: slot, access: try code.read(run))
        await run.warn(unconfirmed: service)
        let report = SlotNDEF(slot: slot, record: record)
        return Outcome(
            report, "over NFC the key returns '\(report.prefix.printable)' and the token of slot \(slot.rawValue)")
    }
}
