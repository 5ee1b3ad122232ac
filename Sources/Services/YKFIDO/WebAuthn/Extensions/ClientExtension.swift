// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A client extension (WebAuthn Level 3 §9): translates inputs of the options into a request to the key, and the key's
/// response into results.
///
/// Both halves of a ceremony get the same options; an extension keeps no state between them. Every requirement has a
/// default implementation that does nothing.
public protocol ClientExtension: Sendable {
    /// Validates the inputs and adds them to the request. Called before anything is sent; throws `member` for invalid
    /// inputs.
    func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError)
    /// Adds the results after the credential was created.
    func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) async throws(WebAuthnError)

    /// Validates the inputs and adds them to the request. Called before anything is sent; throws `member` for invalid
    /// inputs.
    func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError)
    /// Returns the client data with the extension's additions. Called before anything is sent.
    func clientData(_ data: ClientData, _ ceremony: RequestCeremony) throws(WebAuthnError) -> ClientData
    /// Adds the results for the assertion; it may use the key again.
    func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) async throws(WebAuthnError)
}

extension ClientExtension {
    /// Does nothing.
    public func prepare(_ request: inout RegistrationRequest, _ ceremony: CreationCeremony) throws(WebAuthnError) {}
    /// Does nothing.
    public func finish(
        _ results: inout JSONValue.Object, _ registration: Registration, _ ceremony: CreationCeremony
    ) async throws(WebAuthnError) {}
    /// Does nothing.
    public func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {}
    /// Returns the client data unchanged.
    public func clientData(_ data: ClientData, _ ceremony: RequestCeremony) throws(WebAuthnError) -> ClientData {
        data
    }
    /// Does nothing.
    public func finish(
        _ results: inout JSONValue.Object, _ assertion: Assertion, _ ceremony: RequestCeremony
    ) async throws(WebAuthnError) {}
}

/// The creation of a credential.
public typealias CreationCeremony = CeremonyFacts<PublicKeyCredentialCreationOptions>

/// The request for an assertion.
public typealias RequestCeremony = CeremonyFacts<PublicKeyCredentialRequestOptions>

/// Options with inputs for extensions.
public protocol ExtensibleOptions: Sendable {
    /// The inputs, by the identifiers of the extensions.
    var extensions: JSONValue.Object { get }
}

extension PublicKeyCredentialCreationOptions: ExtensibleOptions {}

extension PublicKeyCredentialRequestOptions: ExtensibleOptions {}

/// What an extension knows of a ceremony (WebAuthn Level 3 §4).
public struct CeremonyFacts<Options: ExtensibleOptions>: Sendable {
    /// The options.
    public let options: Options
    /// The relying party's identifier.
    public let rpID: String
    /// The caller's origin.
    public let origin: Origin
    /// The key's capabilities; `nil` with U2F.
    public let info: AuthenticatorInfo?
    /// The key.
    public let service: FIDOService

    /// Returns whether the key supports an extension.
    public func keyKnows(_ identifier: String) -> Bool { info?.extensions.contains(identifier) ?? false }

    var inputs: JSONMembers { JSONMembers(options.extensions, at: "extensions") }
}

/// The extensions that every client supports by default.
public enum StandardExtensions {
    /// All of them.
    public static let all: [any ClientExtension] = [
        CredPropsExtension(), CredProtectExtension(), PRFExtension(), HMACSecretExtension(), LargeBlobExtension(),
        CredBlobExtension(), MinPINLengthExtension(), AppIDExtension(), UVMExtension(), PaymentExtension(),
        PreviewSignExtension(),
    ]
}
