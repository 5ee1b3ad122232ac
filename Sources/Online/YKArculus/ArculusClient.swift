// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP

/// Registers and authenticates a card with a server that the client talks to directly: begin, card, complete.
///
/// The card is not used before the server's begin, and the server is not called if the card failed.
public struct ArculusClient {
    /// The server.
    public let server: ArculusServer
    /// The card.
    public let card: ArculusCard
    private let http: any HTTPClient

    /// Creates a client for a server and a card.
    public init(_ server: ArculusServer, card: ArculusCard, http: any HTTPClient) {
        self.server = server
        self.card = card
        self.http = http
    }

    /// Registers a credential of the card for a user (the SDK's registerUser).
    ///
    /// With `newPIN` (the SDK's resetDevice) the card is reset after the server's begin, and gets this PIN.
    public func registerUser(
        _ username: String, displayName: String, pin: ArculusPIN,
        wishes: ArculusRegistrationOptions = ArculusRegistrationOptions(),
        afterResetTo newPIN: SharedSecret? = nil
    ) async throws(ArculusError) -> RegistrationResponse {
        if let newPIN { try ArculusPIN.checkNew(newPIN) }
        var conversation = ServerConversation(server, http)
        let begin = wishes.registration(username, displayName, server.dialect)
        let reply = try await conversation.post(begin, to: server.endpoints.registrationBegin)
        var options = try ArculusOptions.creation(reply)
        options.rpID = try relyingParty(options.rpID)
        let made = try await card.register(options, origin: server.origin, pin: pin, afterResetTo: newPIN)
        _ = try await conversation.post(made.arculusJSON, to: server.endpoints.registrationComplete)
        return made
    }

    /// Authenticates a user with the card (the SDK's authenticateUser).
    public func authenticateUser(
        _ username: String, pin: ArculusPIN, wishes: ArculusRegistrationOptions = ArculusRegistrationOptions()
    ) async throws(ArculusError) -> AuthenticationResponse {
        var conversation = ServerConversation(server, http)
        let reply = try await conversation.post(
            wishes.authentication(username), to: server.endpoints.authenticationBegin)
        var options = try ArculusOptions.request(reply)
        options.rpID = try relyingParty(options.rpID)
        let signed = try await card.authenticate(options, username: username, origin: server.origin, pin: pin)
        _ = try await conversation.post(signed.arculusJSON, to: server.endpoints.authenticationComplete)
        return signed
    }

    /// Returns the relying party. The server may omit it, but must not name one that differs from its configuration.
    private func relyingParty(_ named: String?) throws(ArculusError) -> String? {
        guard let wanted = server.rpID else { return named }
        guard named == nil || named == wanted else {
            throw .reply("the server asks for '\(named ?? "")', its description says '\(wanted)'")
        }
        return wanted
    }
}
