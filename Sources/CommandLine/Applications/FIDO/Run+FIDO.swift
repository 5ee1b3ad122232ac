// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
package import Verbs
package import YKFIDO
import YKInteraction
package import YKKeys
import YKProtocols
package import YKUse
import YKWire

extension Run {
    /// Returns the credential of the FIDO application for an operation.
    package func fidoCredential(_ pin: PINOptions, for purpose: String, key: String? = nil) -> FIDOCredential {
        FIDOCredential(
            broker(given(.fidoPIN, source(of: .fidoPIN, pin, key: key))),
            CredentialID(.fidoPIN, key: key ?? otherKey), to: purpose, person)
    }

    /// Opens the FIDO application of the selected key, or of one of other keys; the PIN prompt states `reason`.
    package func openFIDO(
        _ pin: PINOptions, for reason: String, asksWhich: Bool = true, of key: Key? = nil, serial: String? = nil
    ) async throws -> FIDOService {
        let credential = fidoCredential(pin, for: reason, key: serial)
        pins = credential
        terminal.purpose(reason)
        return try await openFIDO(credential.interaction, asksWhich: asksWhich, of: key)
    }

    /// Opens the FIDO application for an operation that requires a touch anyway: if several keys are attached and a
    /// person is at the terminal, a touch selects the key.
    package func openTouchedFIDO(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        do { return try await openFIDO(pin, for: reason, asksWhich: false) } catch KeyError.several(
            let interface, let candidates)
        {
            guard terminal.isErrorTerminal, let path = try await perform({ try await touchedKey() }) else {
                throw KeyError.several(interface, candidates)
            }
            keys.choose(path: path)
            return try await openFIDO(pin, for: reason)
        }
    }

    /// Opens the FIDO application of the selected key, for operations that require no PIN.
    package func openFIDO(
        _ interaction: FIDOInteraction? = nil, asksWhich: Bool = true, of key: Key? = nil
    ) async throws -> FIDOService {
        let key = key ?? self.key
        let service =
            if asksWhich {
                try await choosing(key) { try await $0.open(FIDOService.self, interaction: interaction) }
            } else { try await key.open(FIDOService.self, interaction: interaction) }
        if options.strict {
            await service.setStrict(true)
            if await service.hasCTAP2 { _ = try await service.freshInfo() }
        }
        return service
    }

    /// Opens the FIDO application of a key that can list its credentials and has a PIN.
    package func openCredentials(_ pin: PINOptions, for reason: String) async throws -> FIDOService {
        let service = try await openFIDO(pin, for: reason)
        let info = try await service.info()
        guard info.hasCredentialManagement else { throw FIDOError.unsupported("credMgmt") }
        guard info.hasPIN || info.givesTokenForUV else { throw FIDOError.pinNotSet }
        return service
    }

    /// Opens U2F on the selected key; sends no CTAP2 command.
    package func openU2F() async throws -> FIDOService {
        var interaction = FIDOInteraction()
        interaction.usesU2FOnly = true
        return try await key.open(FIDOService.self, interaction: interaction)
    }

    /// Returns the path of the key that is touched. All HID keys blink; once one is touched, the others are cancelled.
    package func touchedKey() async throws -> String {
        let announce = { @Sendable [terminal] (count: Int) in
            terminal.say("\(count) keys are attached: touch the one to use")
        }
        if let path = try await keys.touchedNode(announce) { return path }
        let place = try keys.touchPlace()
        try await openFIDO(asksWhich: false).select()
        return place
    }

    /// Opens the FIDO application of the selected key after it was removed and inserted again.
    package func reinsertedFIDO() async throws -> FIDOService {
        switch try keys.fidoRoute() {
        case .reports(let path):
            let path = try await keys.reinsertedNode(path ?? "") { [terminal] in
                terminal.say("remove the key, then insert it again")
            }
            return try await FIDOService.open(try keys.fidoLink(at: path))
        case .card:
            guard case .reader(let name) = try keys.cardRoute() else {
                throw Explanation.usage("--reinsert needs the smart card service, or a key with a FIDO device")
            }
            let reader = try await keys.reinsertedReader(name) { [terminal] in
                terminal.say("remove the card or key from the reader, then put it back")
            }
            keys.choose(reader: reader)
            return try await FIDOService.open(keys.decoration.prompting(try keys.cardFIDOLink()))
        }
    }

    /// Says what a touch will approve: a thing, such as "a new credential". A plan requires no touch.
    package func announce(_ thing: String) { announce(thing, purpose: thing) }

    /// Says what a touch will approve: an action, such as "sign a file".
    package func announce(to action: String) { announce(action, purpose: "to " + action) }

    private func announce(_ what: String, purpose: String) {
        terminal.purpose(purpose)
        perform { terminal.notice("touch to approve: \(what)") }
    }
}

/// Protects a stored credential, which a new one for the same relying party and account would replace.
package struct CredentialReplacing {
    private let run: Run
    private let service: FIDOService
    /// Whether to replace it without asking.
    private let force: Bool

    /// - Parameter force: Whether to replace it without asking.
    package init(run: Run, service: FIDOService, force: Bool) {
        (self.run, self.service, self.force) = (run, service, force)
    }

    /// Asks before a credential is replaced; a plan replaces nothing, so it does not ask.
    ///
    /// - Parameters:
    ///   - rpID: The relying party.
    ///   - userID: The account's identifier.
    ///   - whose: The account in words, such as "'ssh:', user 'bob'".
    ///   - excluded: Credentials that make the key refuse the registration, so that nothing is replaced.
    package func check(
        _ rpID: String, userID: [UInt8], whose: String, excluded: [CredentialDescriptor] = []
    ) async throws {
        guard !force else { return }
        // The search needs the PIN and a touch.
        switch try await run.perform({ try await service.replacement(for: rpID, userID: userID) }) ?? Replacement.none {
        case .none: return
        case .credential(let found) where excluded.contains { $0.id == found.id }: return
        case .credential: try run.confirm(Self.question(whose), unless: false)
        case .unknown:
            run.terminal.warn(
                "not-checked",
                "the key cannot report whether it stores a credential for \(whose), which would be replaced")
        }
    }

    /// The question before a credential is replaced.
    package static func question(_ whose: String) -> String {
        "the credential that the key stores for \(whose) would be permanently lost: replace it?"
    }
}

/// Whether user verification is required.
package enum VerificationChoice: String, CaseIterable, ExpressibleByArgument {
    case required, preferred, discouraged

    /// What the secret of a credential can depend on.
    package static let ofSecrets: [VerificationChoice] = [.required, .discouraged]

    package var requirement: UserVerification {
        switch self {
        case .required: .required
        case .preferred: .preferred
        case .discouraged: .discouraged
        }
    }
}

extension Files {
    /// Reads a file in the format of another program, or standard input for `-`.
    package static func parse<Value>(
        _ path: String, hint: String? = nil, _ body: ([UInt8]) throws(FormatError) -> Value
    ) throws(Explanation) -> Value {
        let bytes = try read(path)
        do { return try body(bytes) } catch {
            throw Explanation.malformed(error.description(of: path.fileName).printable, hint: hint)
        }
    }
}

extension DiscoverableCredential {
    /// The help of an argument that names a credential.
    package static let help = "The credential: its identifier, the beginning of it, or part of the account's name."

    /// A short description of the account and relying party.
    package var words: String { "'\(name.printable)' at \(relyingParty.id.printable)" }

    package var row: [String] {
        let user = credential.user
        let display = user.displayName.flatMap { $0 == user.name ? nil : $0 } ?? ""
        return [relyingParty.id.printable, name.printable, display.printable, id]
    }

    package var longRow: [String] {
        let algorithm = credential.publicKey.algorithm?.description ?? "?"
        let more = [
            credential.protection.flatMap { $0 == .optional ? nil : $0.description } ?? "",
            credential.largeBlobKey == nil ? "" : "large blob",
            credential.allowsThirdPartyPayment == true ? "payment" : "",
        ]
        return row + [algorithm, more.filter { !$0.isEmpty }.listed()]
    }
}

extension DiscoverableCredential: IdentifiedEntry {
    package static var noun: String { "credential" }
    package static var listing: String { "ykit fido2 credentials list" }
    package var candidate: String { "\(id)  \(words)" }
}

/// The large-blob key is a secret, so the report says only whether there is one.
extension DiscoverableCredential: Report {
    package static let members: [Member<Self>] = [
        Member("rpId") { $0.relyingParty.id }, Member("rpName") { $0.relyingParty.name },
        Member("credentialId") { $0.id }, Member("userId") { Base64.encodeURL($0.credential.user.id) },
        Member("userName") { $0.credential.user.name }, Member("displayName") { $0.credential.user.displayName },
        Member("algorithm") { $0.credential.publicKey.algorithm?.description },
        Member("publicKey", "PEM; null for a type of key without a PEM form") { $0.credential.publicKey.pem },
        Member("coseKey", "the public key as the key stores it") { Base64.encodeURL($0.credential.publicKey.encoded) },
        Member("credProtect") { $0.credential.protection?.description },
        Member("hasLargeBlobKey") { $0.credential.largeBlobKey != nil },
        Member("thirdPartyPayment") { $0.credential.allowsThirdPartyPayment },
    ]
}
