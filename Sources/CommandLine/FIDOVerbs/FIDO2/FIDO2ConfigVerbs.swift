// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKWire

/// Commands for the configuration of the FIDO application.
struct FIDO2Config: ParsableCommand {
    static let about = About(
        "Configure the FIDO application.",
        subcommands: [
            "list": FIDO2ConfigList.self, "always-uv": FIDO2ConfigAlwaysUV.self,
            "min-pin-length": FIDO2ConfigMinPINLength.self, "force-pin-change": FIDO2ConfigForcePINChange.self,
            "complex-pin": FIDO2ConfigComplexPIN.self, "enable-enterprise-attestation": FIDO2ConfigEnterprise.self,
            "long-touch": FIDO2ConfigLongTouch.self,
        ],
        examples: [Example("ykit fido2 config list")])
}

extension Run {
    /// Opens the FIDO application of a configurable key; requires the PIN if one is set.
    func openConfig(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        guard try await service.info().option(.authnrCfg) == true else { throw FIDOError.unsupported("authnrCfg") }
        return service
    }
}

/// Lists the settings that can be configured, and their values.
struct FIDO2ConfigList: Verb {
    static let about = About(
        "Show what can be configured, and the current settings. Needs no PIN.",
        examples: [Example("ykit fido2 config list")])
    static let answer = Shape(Item<[Setting]>("settings"))

    func run(in run: Run) async throws -> Outcome<[Setting]> {
        let info = try await run.openFIDO().info()
        guard info.option(.authnrCfg) == true else { throw FIDOError.unsupported("authnrCfg") }
        let setsRules = info.option(.setMinPINLength) != nil
        let all: [(command: UInt64, name: String, value: JSONValue?)] = [
            (2, "always-uv", info.option(.alwaysUv)?.json),
            (3, "min-pin-length", setsRules ? info.minPINLength.json : nil),
            (3, "force-pin-change", setsRules ? info.mustChangePIN.json : nil),
            (3, "complex-pin", info.hasPINComplexityPolicy?.json),
            (1, "enterprise-attestation", info.option(.ep)?.json),
            (4, "long-touch", info.configCommands == nil ? nil : info.needsLongTouchForReset?.json),
        ]
        let settings = all.filter { info.configCommands?.contains($0.command) ?? true }
            .compactMap { setting in setting.value.map { Setting(name: setting.name, value: $0) } }
        return Outcome(settings, Table.details(settings.map { [$0.name, $0.words] }))
    }

    struct Setting: Report {
        let name: String
        let value: JSONValue
        static let members: [Member<Self>] = [
            Member("name") { $0.name }, Member("value", "whether it is on, or a number") { $0.value },
        ]

        var words: String { value == true ? "on" : value == false ? "off" : value.text }
    }
}

/// Turns "always require user verification" on or off.
struct FIDO2ConfigAlwaysUV: Verb {
    static let about = About(
        "Turn 'always verify the user' on or off.",
        discussion: "While it is on, U2F does not work on most keys.",
        examples: [Example("ykit fido2 config always-uv on")])
    typealias Reported = (isOn: Bool, isChange: Bool)
    static let answer = Shape<Reported>(
        Member("alwaysUv") { $0.isOn }, Member("changed") { $0.isChange })

    /// On or off.
    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on, off
    }

    @Argument("state", help: "on or off.") var state: Switch

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let service = try await run.openConfig(pin, for: "change how it behaves")
        guard let now = try await service.info().option(.alwaysUv) else { throw FIDOError.unsupported("alwaysUv") }
        let isChange = now != (state == .on)
        if isChange { try await service.configure(.toggleAlwaysUV) }
        return Outcome(
            (isOn: state == .on, isChange: isChange),
            "the key verifies its user \(state == .on ? "always" : "when it is asked to")\(isChange ? "" : " already")")
    }
}

/// Sets the minimum PIN length.
struct FIDO2ConfigMinPINLength: Verb {
    static let about = About(
        "Set the minimum PIN length. It can only be raised; a reset restores the default.",
        discussion: "A shorter PIN must be changed before the key does anything else.",
        examples: [Example("ykit fido2 config min-pin-length 6")])
    static let answer = Shape(
        Item<Int>("minPINLength"), Item<[String]>("rpIds", "those to which the length is revealed"))

    @Argument("n", help: "Characters, 4 to 63.") var length: Int

    @Option("--rp <id>", help: "Reveal the length to this relying party; may be repeated.") var rp: [String] = []

    @OptionGroup var pin: PINOptions

    func check() throws {
        if !(4...63).contains(length) { throw UsageError("the minimum PIN length must be 4 to 63") }
    }

    func run(in run: Run) async throws -> Outcome<(Int, [String])> {
        let service = try await run.openConfig(pin, for: "change its rules for PINs")
        let info = try await service.info()
        guard UInt64(length) >= info.minPINLength else {
            throw Explanation(
                "only-grows", .policy,
                "the key requires \(info.minPINLength) characters already; the minimum can only be raised"
            )
        }
        if let most = info.maxRPIDsForMinPINLength, rp.count > Int(clamping: most) {
            throw Explanation("too-many", .notSupported, "the key reveals it to at most \(most) relying parties")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.minLength = UInt64(length)
        rules.rpIDs = rp
        try await service.configure(.pinRules(rules))
        return Outcome((length, rp), "a PIN must now have at least \(length) characters")
    }
}

/// Requires a PIN change before the key does anything else.
struct FIDO2ConfigForcePINChange: Verb {
    static let about = About(
        "Require a PIN change before the key does anything else.",
        examples: [Example("ykit fido2 config force-pin-change")])
    static let answer = Shape(done: "forcePINChange")

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPIN else { throw FIDOError.pinNotSet }
        var rules = AuthenticatorConfig.PINRules()
        rules.forcesChange = true
        try await service.configure(.pinRules(rules))
        return Outcome(done: "the PIN must be changed now: ykit fido2 pin change")
    }
}

/// Makes the key refuse simple PINs.
struct FIDO2ConfigComplexPIN: Verb {
    static let about = About(
        "Refuse simple PINs. Only a reset undoes it.",
        examples: [Example("ykit fido2 config complex-pin")])
    static let answer = Shape(done: "pinComplexityPolicy")

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let service = try await run.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPINComplexityPolicy != nil else {
            throw FIDOError.unsupported("pinComplexityPolicy")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.requiresComplexity = true
        try await service.configure(.pinRules(rules))
        return Outcome(done: "simple PINs are refused from now on")
    }
}

/// Enables enterprise attestation.
struct FIDO2ConfigEnterprise: Verb {
    static let about = About(
        "Enable enterprise attestation, which identifies the key to certain relying parties. Only a reset undoes it.",
        examples: [Example("ykit fido2 config enable-enterprise-attestation")])
    static let answer = Shape(done: "enterpriseAttestation", and: Item<Bool>("changed"))

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Bool> {
        let service = try await run.openConfig(pin, for: "enable enterprise attestation")
        guard let now = try await service.info().option(.ep) else { throw FIDOError.unsupported("ep") }
        if !now { try await service.configure(.enableEnterpriseAttestation) }
        return Outcome(!now, "enterprise attestation is enabled\(now ? " already" : "")")
    }
}

/// Requires a long touch for a reset.
struct FIDO2ConfigLongTouch: Verb {
    static let about = About(
        "Require a long touch for a reset, so that none happens by mistake. Only a reset undoes it.",
        discussion: """
            For keys of CTAP 2.3 that offer the choice. A YubiKey does not: 'ykit fido2 info' says what it requires.
            """,
        examples: [Example("ykit fido2 config long-touch")])
    static let answer = Shape(
        done: "longTouchForReset", and: Item<Int>("seconds", "how long to touch"), Item<Bool>("changed"))

    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<(Int, Bool)> {
        let service = try await run.openConfig(pin, for: "require a long touch for a reset")
        let info = try await service.info()
        guard let now = info.needsLongTouchForReset else { throw FIDOError.unsupported("longTouchForReset") }
        if !now { try await service.configure(.enableLongTouchForReset) }
        return Outcome(
            (info.longTouchSeconds, !now),
            "a reset requires a touch of \(info.longTouchSeconds) seconds\(now ? " already" : "")")
    }
}
