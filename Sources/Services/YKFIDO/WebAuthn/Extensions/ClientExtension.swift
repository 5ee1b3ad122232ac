// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// An extension as a client sees it (WebAuthn Level 3 §9): it turns inputs of the options into what the key is to do,
/// and what the key answered into results.
///
/// Both halves of a ceremony get the same options; an extension keeps nothing between them. Whatever it does not
/// implement does nothing.
public protocol ClientExtension: Sendable {
    /// Checks the inputs and says what the key is to do. Called before anything is sent; inputs that cannot be right
    /// throw `member`.
    func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError)
    /// Adds the results after the credential was made.
    func finish(
        _ results: inout JSON.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) async throws(WebAuthnError)

    /// Checks the inputs and says what the key is to do. Called before anything is sent; inputs that cannot be right
    /// throw `member`.
    func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError)
    /// The client data with what the extension adds to them. Called before anything is sent.
    func clientData(_ data: ClientData, _ ceremony: RequestCeremony) throws(WebAuthnError) -> ClientData
    /// Adds the results for the credential that signed; it may use the key again.
    func finish(
        _ results: inout JSON.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) async throws(WebAuthnError)
}

extension ClientExtension {
    /// Does nothing.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {}
    /// Does nothing.
    public func finish(
        _ results: inout JSON.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) async throws(WebAuthnError) {}
    /// Does nothing.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {}
    /// The same.
    public func clientData(_ data: ClientData, _ ceremony: RequestCeremony) throws(WebAuthnError) -> ClientData {
        data
    }
    /// Does nothing.
    public func finish(
        _ results: inout JSON.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) async throws(WebAuthnError) {}
}

/// A credential is being made.
public struct CreationCeremony: Sendable {
    /// What was asked for.
    public let options: PublicKeyCredentialCreationOptions
    /// Who it is for.
    public let rpID: String
    /// Who asked.
    public let origin: Origin
    /// What the key can do; `nil` when U2F is spoken.
    public let info: AuthenticatorInfo?
    /// The key.
    public let service: FIDOService

    /// Whether the key knows an extension of this identifier.
    public func keyKnows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }

    var inputs: JSONMembers { JSONMembers(options.extensions, at: "extensions") }
}

/// A credential is to sign.
public struct RequestCeremony: Sendable {
    /// What was asked for.
    public let options: PublicKeyCredentialRequestOptions
    /// Who it is for.
    public let rpID: String
    /// Who asked.
    public let origin: Origin
    /// What the key can do; `nil` when U2F is spoken.
    public let info: AuthenticatorInfo?
    /// The key.
    public let service: FIDOService

    /// Whether the key knows an extension of this identifier.
    public func keyKnows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }

    var inputs: JSONMembers { JSONMembers(options.extensions, at: "extensions") }
}
