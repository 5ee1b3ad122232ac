// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
import Verbs
package import YKArculus
import YKCrypto
import YKFIDO
import YKProtocols
import YKWire

/// Commands for Arculus cards and their servers.
package struct ArculusGroup: ParsableCommand {
    package static let about = About(
        "Arculus cards: register and sign in over a contactless reader.",
        subcommands: [
            "info": ArculusShow.self, "register": ArculusRegister.self, "authenticate": ArculusAuthenticate.self,
            "card": ArculusCardGroup.self, "reset": ArculusReset.self, "change-pin": ArculusChangePIN.self,
        ],
        examples: [Example("ykit arculus info")])

    package init() {}
}

/// Commands for backends that communicate with the server themselves.
struct ArculusCardGroup: ParsableCommand {
    static let about = About(
        "Only the card's part, for a backend that handles the challenge.",
        subcommands: ["register": ArculusCardRegister.self, "authenticate": ArculusCardAuthenticate.self],
        examples: [Example("ykit arculus card register --origin https://example.com --options create.json")])
}

/// Shows information about a card.
struct ArculusShow: Verb {
    static let about = About(
        "Show the card's model and the state of its PIN.",
        discussion: "No PIN is needed. For everything that the card reports: ykit fido2 info",
        examples: [Example("ykit arculus info")])
    static let answer = Shape<ArculusCard.State>().following(ArculusResult.ok)

    func run(in run: Run) async throws -> Outcome<ArculusCard.State> {
        let field = CardPresence(run)
        return try await field.outcome {
            let state = try await field.card().state()
            return Outcome(state, state.details)
        }
    }
}

extension ArculusCard.State: Report {
    package static let members: [Member<Self>] = [
        Member("model", title: "model", absent: "no Arculus card") { $0.model.name },
        Member("isArculus") { $0.model.name != nil },
        Member("aaguid", title: "AAGUID") { Hex.uuid($0.info.aaguid) },
        Member("versions", title: "protocols") { $0.info.versions.map(\.rawValue) },
        Member("pinProtocols") { $0.info.pinProtocols },
        Member("hasPin", title: "PIN", line: { $0.pinWords }) { $0.info.hasPIN },
        Member("pinRetries") { $0.retries?.count },
        Member("minPINLength", title: "PIN length", words: { "\($0) digits or more" }) { $0.minPINLength },
        Member("remainingCredentials", title: "room for credentials", words: { "\($0) more" }) {
            $0.info.remainingCredentials
        },
    ]

    private var minPINLength: UInt64 { max(info.minPINLength, UInt64(ArculusPIN.shortest)) }

    private var pinWords: String {
        retries.map { "set, \(Tries.left($0.count))" } ?? (info.takesPIN ? "not set" : "this card has none")
    }
}

/// Resets a card and sets a PIN.
struct ArculusReset: Verb {
    static let about = About(
        "Delete all credentials on the card, and set a new PIN.",
        discussion:
            "Every account registered with this card becomes inaccessible: register another card or key there first.",
        examples: [Example("ykit arculus reset")])
    static let answer = Shape(done: "reset", "hasPin").following(ArculusResult.ok)

    @Flag(["--force", "-f"], help: "Do not ask for confirmation.") var force = false

    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let field = CardPresence(run)
        return try await field.outcome {
            try run.confirm(typing: "reset", "this permanently deletes all credentials on this card", unless: force)
            try await field.card().reset(to: try await new.arculus(run))
            return Outcome(done: "all credentials on the card deleted; the new PIN is set")
        }
    }
}

extension NewPINOptions {
    /// Returns the new PIN of a card, given or asked for twice.
    func arculus(_ run: Run) async throws -> SharedSecret {
        let question = TerminalQuestion(
            asking: "new PIN, six digits or more", objection: "the PIN must not be empty", orElse: source.hint)
        return try await run.obtain(.fidoPIN, source, question, isNew: true)
    }
}

/// Changes a card's PIN.
struct ArculusChangePIN: Verb {
    static let readsLines = true
    static let about = About(
        "Change the card's PIN and keep its credentials.",
        discussion: """
            A wrong old PIN uses up a try. If both are read from standard input, the first line is the old PIN, the \
            second the new one.
            """,
        examples: [Example("ykit arculus change-pin")])
    static let answer = Shape(done: "hasPin").following(ArculusResult.ok)

    @OptionGroup var pin: PINOptions
    @OptionGroup var new: NewPINOptions

    func run(in run: Run) async throws -> Outcome<Void> {
        let field = CardPresence(run)
        return try await field.outcome {
            let card = field.card()
            // Given PINs are read in this order, and a prompt shows the remaining retries.
            let old = try await run.obtain(
                .fidoPIN, run.source(of: .fidoPIN, pin), to: "change its PIN",
                triesLeft: try await Self.retries(card).count)
            try await card.changePIN(from: { _ in old }, to: try await new.arculus(run))
            return Outcome(done: "PIN changed")
        }
    }

    private static func retries(_ card: ArculusCard) async throws -> PINRetries {
        let state = try await card.state()
        guard let retries = state.retries else { throw ArculusError.card(.key(.pinNotSet), during: .settingPIN) }
        guard retries.count > 0 else { throw ArculusError.card(.key(.pinBlocked), during: .settingPIN) }
        return retries
    }
}
