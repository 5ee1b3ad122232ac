// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKWire

/// Lists the settings that can be configured, and their values.
struct FIDO2ConfigList: Verb {
    static let about = About(
        "list", "Show what can be configured, and the current settings. Needs no PIN.", members: ["settings"])

    func answer(in world: World) async throws -> Answer {
        let info = try await world.openFIDO().info()
        guard info.option(.authnrCfg) == true else { throw FIDOError.unsupported("authnrCfg") }
        let all: [(String, UInt64, JSON?, String)] = [
            ("always-uv", 2, info.option(.alwaysUv).map(JSON.bool), Self.words(info.option(.alwaysUv))),
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
                "complex-pin", 3, info.hasPINComplexityPolicy.map(JSON.bool),
                Self.words(info.hasPINComplexityPolicy)
            ),
            ("enterprise-attestation", 1, info.option(.ep).map(JSON.bool), Self.words(info.option(.ep))),
        ]
        let known = all.filter { setting in info.configCommands?.contains(setting.1) ?? true }
        let there = known.filter { $0.2 != nil }
        return Answer(
            Table.lines(there.map { [$0.0, $0.3] }),
            ["settings": .array(there.map { ["name": .string($0.0), "value": $0.2 ?? .null] })])
    }

    private static func words(_ value: Bool?) -> String { value == true ? "on" : "off" }
}
