// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKArculus
import YKFIDO
import YKWire

/// Shows information about a card.
struct ArculusShow: Verb {
    static let about = About(
        "info", "Show the card's model and the state of its PIN.",
        discussion: "No PIN is needed. Everything that the card says of itself: ykit fido2 info",
        members: ArculusField.members + [
            "model", "isArculus", "aaguid", "versions", "pinProtocols", "hasPin", "pinRetries", "minPinLength",
            "remainingCredentials",
        ])

    func answer(in world: World) async throws -> Answer {
        let field = ArculusField(world)
        return try await field.answer { Self.answer(try await field.card().state()) }
    }

    private static func answer(_ state: ArculusCard.State) -> Answer {
        let info = state.info
        let aaguid = Hex.uuid(info.aaguid)
        let minimum = max(info.minPINLength, UInt64(ArculusPIN.shortest))
        let tries = state.retries.map { "set, \(Tries.left($0.count))" }
        let rows = [
            ["model", state.model.name ?? "no Arculus card"], ["AAGUID", aaguid],
            ["protocols", info.versions.map(\.rawValue.printable).listed()],
            ["PIN", tries ?? (info.takesPIN ? "not set" : "this card has none")],
            ["PIN length", "\(minimum) digits or more"],
            ["room for credentials", info.remainingCredentials.map { "\($0) more" } ?? ""],
        ]
        var answer = Answer(Table.details(rows.filter { !$0[1].isEmpty }), [:])
        answer.members["model"] = state.model.name.map(JSONValue.string)
        answer.members["isArculus"] = .bool(state.model.name != nil)
        answer.members["aaguid"] = .string(aaguid)
        answer.members["versions"] = .array(info.versions.map { .string($0.rawValue) })
        answer.members["pinProtocols"] = .array(info.pinProtocols.map { .int(Int64(clamping: $0)) })
        answer.members["hasPin"] = .bool(info.hasPIN)
        answer.members["pinRetries"] = state.retries.map { .int(Int64($0.count)) }
        answer.members["minPinLength"] = .int(Int64(clamping: minimum))
        answer.members["remainingCredentials"] = info.remainingCredentials.map { .int(Int64(clamping: $0)) }
        return answer
    }
}
