// SPDX-License-Identifier: Apache-2.0

import Arguments
package import TerminalIO
import Verbs
import YKCrypto
package import YKPrivacyIDEA
import YKSecondFactor

/// A client with its API key, which the server shows only once.
struct ClientKey: Report {
    let client: FactorClient
    let apiKey: String

    static let members: [Member<ClientKey>] = [
        Member("id") { $0.client.id },
        Member("name") { $0.client.name },
        Member("keyId", "the part of the API key by which the server lists it") { $0.client.keyID },
        Member("apiKey", "shown once") { $0.apiKey },
    ]
}

/// Registers a client.
struct SecondFactorAPIKeyCreate: SecondFactorVerb {
    static let about = About(
        "Register a client and print its API key, which is shown once.",
        examples: [Example("ykit 2fa api-key create shop")])

    @Argument("name", help: "A name for the client.") var name: String

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<ClientKey> {
        try await connection.service.createAPIKey(name).withKey
    }
}

/// Replaces an API key.
struct SecondFactorAPIKeyRotate: SecondFactorVerb {
    static let about = About(
        "Replace a client's API key; the old one stops working immediately.",
        examples: [Example("ykit 2fa api-key rotate shop")])

    @Argument("name", help: "The client, by its name or identifier.") var name: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<ClientKey> {
        try confirmation.ask("the present API key of '\(name.printable)' would become invalid: replace it?", in: run)
        return try await connection.service.rotateAPIKey(name).withKey
    }
}

/// Lists clients.
struct SecondFactorAPIKeyList: SecondFactorVerb {
    static let about = About(
        "List the registered clients, without their API keys.",
        examples: [Example("ykit 2fa api-key list")])
    static let answer = Shape(Item<[FactorClient]>("clients"))

    @OptionGroup var server: SecondFactorOptions

    func run(_ connection: inout SecondFactorConnection, _ run: Run) async throws -> Outcome<[FactorClient]> {
        let clients = try await connection.service.apiKeys()
        if clients.isEmpty { run.terminal.note("no clients are registered") }
        return Outcome(clients, Table.lines(clients.map(\.row)))
    }
}

extension FactorClient: Report {
    package static let members: [Member<FactorClient>] = [
        Member("id") { $0.id },
        Member("name") { $0.name },
        Member("keyId", "the part of the API key by which the server lists it") { $0.keyID },
        Member("status", "the server's word") { $0.status },
        Member("created", "as the server writes it") { $0.created },
        Member("lastUsed", "as the server writes it") { $0.lastUsed },
    ]

    fileprivate var row: [String] {
        [name.printable, id.printable, status.printable, "used " + (lastUsed ?? "never").printable]
    }

    fileprivate var withKey: Outcome<ClientKey> {
        let text = apiKey.map { $0.value.withBytes { String(decoding: $0, as: UTF8.self) } } ?? ""
        var outcome = Outcome(ClientKey(client: self, apiKey: text), text.printable)
        outcome.answer.isMadeOnce = true
        return outcome
    }
}
