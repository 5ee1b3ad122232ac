// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
package import YKArculus
import YKFIDO
import YKWire

/// Shows information about a card.
struct ArculusShow: Verb {
    static let about = About(
        "info", "Show the card's model and the state of its PIN.",
        discussion: "No PIN is needed. For everything that the card reports: ykit fido2 info",
        examples: [Example("ykit arculus info")])
    static let answer = Shape<ArculusCard.State>().following(ArculusResult.ok)

    func run(in run: Run) async throws -> Outcome<ArculusCard.State> {
        let field = CardPresence(run)
        return try await field.outcome {
            let state = try await field.card().state()
            return Outcome(state, Table.details(state.rows.filter { !$0[1].isEmpty }))
        }
    }
}

extension ArculusCard.State: Report {
    package static let members: [Member<Self>] = [
        Member("model") { $0.model.name }, Member("isArculus") { $0.model.name != nil },
        Member("aaguid") { Hex.uuid($0.info.aaguid) }, Member("versions") { $0.info.versions.map(\.rawValue) },
        Member("pinProtocols") { $0.info.pinProtocols }, Member("hasPin") { $0.info.hasPIN },
        Member("pinRetries") { $0.retries?.count }, Member("minPINLength") { $0.minPINLength },
        Member("remainingCredentials") { $0.info.remainingCredentials },
    ]

    private var minPINLength: UInt64 { max(info.minPINLength, UInt64(ArculusPIN.shortest)) }

    fileprivate var rows: [[String]] {
        let tries = retries.map { "set, \(Tries.left($0.count))" }
        return [
            ["model", model.name ?? "no Arculus card"], ["AAGUID", Hex.uuid(info.aaguid)],
            ["protocols", info.versions.map(\.rawValue.printable).listed()],
            ["PIN", tries ?? (info.takesPIN ? "not set" : "this card has none")],
            ["PIN length", "\(minPINLength) digits or more"],
            ["room for credentials", info.remainingCredentials.map { "\($0) more" } ?? ""],
        ]
    }
}
