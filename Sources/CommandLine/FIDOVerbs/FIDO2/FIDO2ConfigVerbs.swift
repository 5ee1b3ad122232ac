// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKFIDO
import YKWire

/// Commands for the configuration of the FIDO application.
struct FIDO2Config: ParsableCommand {
    static let about = About(
        "config", "Configure the FIDO application.",
        subcommands: [
            FIDO2ConfigList.self, FIDO2ConfigAlwaysUV.self, FIDO2ConfigMinPINLength.self,
            FIDO2ConfigForcePINChange.self, FIDO2ConfigComplexPIN.self, FIDO2ConfigEnterprise.self,
        ])
}

extension World {
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
        "list", "Show what can be configured, and the current settings. Needs no PIN.", members: ["settings"])

    func answer(in world: World) async throws -> Answer {
        let info = try await world.openFIDO().info()
        guard info.option(.authnrCfg) == true else { throw FIDOError.unsupported("authnrCfg") }
        let all: [(String, UInt64, JSONValue?, String)] = [
            ("always-uv", 2, info.option(.alwaysUv).map(JSONValue.bool), Self.words(info.option(.alwaysUv))),
            (
                "min-pin-length", 3,
                info.option(.setMinPINLength).map { _ in .int(Int64(clamping: info.minPINLength)) },
                "\(info.minPINLength)"
            ),
            (
                "force-pin-change", 3, info.option(.setMinPINLength).map { _ in .bool(info.mustChangePIN) },
                Self.words(info.mustChangePIN)
            ),
            (
                "complex-pin", 3, info.hasPINComplexityPolicy.map(JSONValue.bool),
                Self.words(info.hasPINComplexityPolicy)
            ),
            ("enterprise-attestation", 1, info.option(.ep).map(JSONValue.bool), Self.words(info.option(.ep))),
        ]
        let known = all.filter { setting in info.configCommands?.contains(setting.1) ?? true }
        let there = known.filter { $0.2 != nil }
        return Answer(
            Table.details(there.map { [$0.0, $0.3] }),
            ["settings": .array(there.map { ["name": .string($0.0), "value": $0.2 ?? .null] })])
    }

    private static func words(_ value: Bool?) -> String { value == true ? "on" : "off" }
}

/// Turns "always require user verification" on or off.
struct FIDO2ConfigAlwaysUV: Verb {
    static let about = About(
        "always-uv", "Turn 'always verify the user' on or off.",
        discussion: "While it is on, U2F does not work on most keys.", members: ["alwaysUv", "changed"])

    /// On or off.
    enum Switch: String, CaseIterable, ExpressibleByArgument {
        case on, off
    }

    @Argument("state", help: "on or off.") var state: Switch

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change how it behaves")
        guard let now = try await service.info().option(.alwaysUv) else { throw FIDOError.unsupported("alwaysUv") }
        let isChange = now != (state == .on)
        if isChange { try await service.configure(.toggleAlwaysUV) }
        return Answer(
            "the key verifies its user \(state == .on ? "always" : "when it is asked to")\(isChange ? "" : " already")",
            ["alwaysUv": .bool(state == .on), "changed": .bool(isChange)])
    }
}

/// Sets the minimum PIN length.
struct FIDO2ConfigMinPINLength: Verb {
    static let about = About(
        "min-pin-length",
        "Set the minimum PIN length. It can only be raised; a reset restores the default.",
        discussion: "A shorter PIN must be changed before the key does anything else.",
        members: ["minPINLength", "rpIds"])

    @Argument("n", help: "Characters, 4 to 63.") var length: Int

    @Option("--rp <id>", help: "Tell this relying party the length; may be repeated.") var rp: [String] = []

    @OptionGroup var pin: PINOptions

    func check() throws {
        if !(4...63).contains(length) { throw UsageError("a PIN has 4 to 63 characters") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        let info = try await service.info()
        guard UInt64(length) >= info.minPINLength else {
            throw Explanation(
                "only-grows", .policy, "the key wants \(info.minPINLength) characters already, which can only be raised"
            )
        }
        if let most = info.maxRPIDsForMinPINLength, rp.count > Int(clamping: most) {
            throw Explanation("too-many", .notSupported, "the key tells at most \(most) relying parties")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.minLength = UInt64(length)
        rules.rpIDs = rp
        try await service.configure(.pinRules(rules))
        return Answer(
            "a PIN has at least \(length) characters now",
            ["minPINLength": .int(Int64(length)), "rpIds": .array(rp.map(JSONValue.string))])
    }
}

/// Requires a PIN change before the key does anything else.
struct FIDO2ConfigForcePINChange: Verb {
    static let about = About(
        "force-pin-change", "Require a PIN change before the key does anything else.", members: ["forcePINChange"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPIN else { throw FIDOError.pinNotSet }
        var rules = AuthenticatorConfig.PINRules()
        rules.forcesChange = true
        try await service.configure(.pinRules(rules))
        return Answer("the PIN has to be changed now: ykit fido2 pin change", ["forcePINChange": true])
    }
}

/// Makes the key refuse simple PINs.
struct FIDO2ConfigComplexPIN: Verb {
    static let about = About(
        "complex-pin", "Make the key refuse simple PINs. Only a reset undoes it.", members: ["pinComplexityPolicy"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "change its rules for PINs")
        guard try await service.info().hasPINComplexityPolicy != nil else {
            throw FIDOError.unsupported("pinComplexityPolicy")
        }
        var rules = AuthenticatorConfig.PINRules()
        rules.requiresComplexity = true
        try await service.configure(.pinRules(rules))
        return Answer("simple PINs are refused from now on", ["pinComplexityPolicy": true])
    }
}

/// Enables enterprise attestation.
struct FIDO2ConfigEnterprise: Verb {
    static let about = About(
        "enable-enterprise-attestation",
        "Enable enterprise attestation, which identifies the key to certain relying parties. Only a reset undoes it.",
        members: ["enterpriseAttestation", "changed"])

    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openConfig(pin, for: "enable enterprise attestation")
        guard let now = try await service.info().option(.ep) else { throw FIDOError.unsupported("ep") }
        if !now { try await service.configure(.enableEnterpriseAttestation) }
        return Answer(
            "enterprise attestation is enabled\(now ? " already" : "")",
            ["enterpriseAttestation": true, "changed": .bool(!now)])
    }
}
