// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKOTP
import YKTransport
import YKWire

/// Commands for the Yubico OTP application.
struct OTPGroup: ParsableCommand {
    static let about = About(
        "otp", "Yubico OTP: the two slots of a key, and the tokens they make.",
        subcommands: [
            OTPInfo.self, OTPSwap.self, OTPDelete.self, OTPYubiOTP.self, OTPStatic.self, OTPChalResp.self, OTPHOTP.self,
            OTPNDEF.self, OTPSettingsUpdate.self, OTPCalculate.self, OTPParse.self, OTPVerify.self,
        ])
}

/// Shows the state of the slots.
struct OTPInfo: Verb {
    static let about = About(
        "info", "Show which slots are in use, and what they do.",
        members: ["version", "serial", "link", "slots", "lightInverted", "fipsMode"])

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let version = await service.version
        let serial = try? await service.serial()
        let isFIPS = version.major == 4 ? try? await service.isInFIPSMode() : nil
        let status = await service.status
        var slots: [(OTPSlot, OTPSlotState)] = []
        for slot in OTPSlot.allCases { slots.append((slot, await service.state(of: slot))) }
        var lines = slots.map { "slot \($0.0.rawValue): \($0.1.words)" }
        if status.isLightInverted { lines.append("the light is off at rest") }
        if let isFIPS { lines.append("FIPS approved mode: \(isFIPS ? "yes" : "no")") }
        return Answer(
            lines,
            [
                "version": .string(version.description), "serial": serial.map { .int(Int64($0)) } ?? .null,
                "link": .string(await service.carrier.rawValue),
                "slots": .array(slots.map { $0.1.json($0.0) }), "lightInverted": .bool(status.isLightInverted),
                "fipsMode": isFIPS.map(JSONValue.bool) ?? .null,
            ])
    }
}

extension OTPSlotState {
    fileprivate var words: String {
        switch (isProgrammed, isTouchTriggered) {
        case (false, _): "empty"
        case (nil, _): "not known, the firmware does not tell"
        case (true, true): "programmed, types when touched"
        case (true, false): "programmed, answers challenges"
        case (true, nil): "programmed"
        }
    }

    fileprivate func json(_ slot: OTPSlot) -> JSONValue {
        [
            "slot": .int(Int64(slot.rawValue)), "programmed": isProgrammed.map(JSONValue.bool) ?? .null,
            "touchTriggered": isTouchTriggered.map(JSONValue.bool) ?? .null,
        ]
    }
}

/// Swaps the slots.
struct OTPSwap: Verb {
    static let about = About("swap", "Swap the contents of the two slots.")

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        if !force, world.plan == nil { try Prompt.confirm("swap the two slots?") }
        try await service.swap()
        return Answer("the slots are swapped", [:])
    }
}

/// Deletes the configuration of a slot.
struct OTPDelete: Verb {
    static let about = About("delete", "Empty a slot. Its contents cannot be recovered.", members: ["slot"])

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var code: AccessCodeOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let access = try code.read(world)
        if !force, world.plan == nil {
            try Prompt.confirm("empty slot \(slot.rawValue)? what is in it cannot be recovered")
        }
        try await service.delete(slot, access: access)
        return Answer("slot \(slot.rawValue) is empty", ["slot": .int(Int64(slot.rawValue))])
    }
}

/// Updates the settings of a slot.
struct OTPSettingsUpdate: Verb {
    static let about = About(
        "settings", "Change a slot's typing settings or access code, and keep its secrets.",
        discussion: "Settings that are not given are set to those of a new slot.", members: ["slot"])

    @OptionGroup var target: OTPProgramming
    @OptionGroup var typing: TypingOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        let slot = target.slot
        let state = await service.state(of: slot)
        guard state.isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let (_, access) = try target.read(in: world) {}
        if !target.force, world.plan == nil { try Prompt.confirm("write all settings of slot \(slot.rawValue) again?") }
        var settings = typing.settings
        if state.isTouchTriggered == false { settings.ticket = [] }
        try await service.update(slot, settings, access: access)
        return Answer("the settings of slot \(slot.rawValue) are written", ["slot": .int(Int64(slot.rawValue))])
    }
}

/// Configures the NDEF record that a key presents over NFC.
struct OTPNDEF: Verb {
    static let about = About(
        "ndef", "Set the URL or text that NFC readers get, followed by a slot's token.",
        members: ["slot", "kind", "prefix"])

    @Argument("slot", help: "The slot, 1 or 2.", transform: OTPSlot.parse) var slot: OTPSlot

    @Option(["--prefix <text>", "-p"], help: "The text before the token; https://my.yubico.com/yk/# by default.")
    var prefix: String?

    @Flag("--text", help: "Give a text rather than an address.") var text = false

    @Option("--language <code>", help: "The language of the text, en by default.") var language = "en"

    @OptionGroup var code: AccessCodeOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.otp()
        guard await service.state(of: slot).isProgrammed != false else { throw OTPError.emptySlot(slot) }
        let record: OTPNDEFRecord =
            text ? .text(prefix ?? "", language: language) : prefix.map(OTPNDEFRecord.uri) ?? .standard
        try await service.setNDEF(record, for: slot, access: try code.read(world))
        let shown: String
        switch record {
        case .uri(let address): shown = address
        case .text(let text, _): shown = text
        }
        return Answer(
            "over NFC the key gives '\(shown.printable)' and the token of slot \(slot.rawValue)",
            [
                "slot": .int(Int64(slot.rawValue)), "kind": .string(text ? "text" : "uri"), "prefix": .string(shown),
            ])
    }
}
