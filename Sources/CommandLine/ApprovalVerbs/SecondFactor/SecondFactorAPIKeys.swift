// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKSecondFactor
import YKWire

/// Registers a client.
struct SecondFactorAPIKeyCreate: SecondFactorVerb {
    static let about = About(
        "create", "Register a client and print its API key, which is shown once.",
        members: ["id", "name", "keyId", "apiKey"])

    @Argument("name", help: "A name for the client.") var name: String

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        try await connection.service.createAPIKey(name).withKey
    }
}

/// Replaces an API key.
struct SecondFactorAPIKeyRotate: SecondFactorVerb {
    static let about = About(
        "rotate", "Replace a client's API key; the old one stops working at once.",
        members: ["id", "name", "keyId", "apiKey"])

    @Argument("name", help: "The client, by its name or identifier.") var name: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        try confirmation.ask("make the API key of '\(name.printable)' invalid?", in: world)
        return try await connection.service.rotateAPIKey(name).withKey
    }
}

/// Lists clients.
struct SecondFactorAPIKeyList: SecondFactorVerb {
    static let about = About("list", "List the registered clients, without their API keys.", members: ["clients"])

    @OptionGroup var access: SecondFactorAccess
    @OptionGroup var key: StoreKeyOptions

    func answer(_ connection: inout SecondFactorConnection, _ world: World) async throws -> Answer {
        let clients = try await connection.service.apiKeys()
        if clients.isEmpty { world.terminal.note("no clients are registered") }
        return Answer(
            Table.lines(
                clients.map { client in
                    [
                        client.name.printable, client.id.printable, client.status.printable,
                        "used " + (client.lastUsed ?? "never").printable,
                    ]
                }),
            [
                "clients": .array(
                    clients.map { client in
                        [
                            "id": .string(client.id), "name": .string(client.name), "keyId": .string(client.keyID),
                            "status": .string(client.status), "created": client.created.map(JSONValue.string) ?? .null,
                            "lastUsed": client.lastUsed.map(JSONValue.string) ?? .null,
                        ]
                    })
            ])
    }
}

extension FactorClient {
    /// The answer with an API key, which the server shows only once.
    fileprivate var withKey: Answer {
        let text = apiKey.map { $0.value.withBytes { String(decoding: $0, as: UTF8.self) } } ?? ""
        var answer = Answer(
            text.printable,
            ["id": .string(id), "name": .string(name), "keyId": .string(keyID), "apiKey": .string(text)])
        answer.isMadeOnce = true
        return answer
    }
}
