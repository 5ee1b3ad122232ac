// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// The arguments of `PublicKeyCredential`'s signal functions as JSON, with which a page keeps passkey providers up to
/// date about the account's credentials (WebAuthn Level 3 §5.1.10).
extension WebAuthnRelyingParty {
    /// Returns the argument of `signalUnknownCredential()`: a credential that no account has (§5.1.10.2). Send it in
    /// response to a sign-in that failed with ``CeremonyError/unknownCredential``.
    ///
    /// - Parameter credential: The credential's identifier.
    public func unknownCredentialSignal(_ credential: [UInt8]) -> JSONValue {
        ["rpId": .string(id), "credentialId": .bytes(credential)]
    }

    /// Returns the argument of `signalAllAcceptedCredentials()`: all credentials of an account (§5.1.10.3). Send it
    /// only to a signed-in browser.
    ///
    /// - Parameters:
    ///   - user: The user handle.
    ///   - credentials: The credentials of the account.
    public func acceptedCredentialsSignal(of user: [UInt8], _ credentials: [CredentialRecord]) -> JSONValue {
        [
            "rpId": .string(id), "userId": .bytes(user),
            "allAcceptedCredentialIds": .array(credentials.map { .bytes($0.id) }),
        ]
    }

    /// Returns the argument of `signalCurrentUserDetails()`: the names of an account (§5.1.10.4). Send it only to a
    /// signed-in browser.
    ///
    /// - Parameter user: The account.
    public func userDetailsSignal(_ user: FIDOUser) -> JSONValue {
        [
            "rpId": .string(id), "userId": .bytes(user.id), "name": .string(user.name ?? ""),
            "displayName": .string(user.displayName ?? ""),
        ]
    }
}

/// A browser's capabilities, as returned by `PublicKeyCredential.getClientCapabilities()` (WebAuthn Level 3 §5.1.7).
public struct ClientCapabilities: Hashable, Sendable {
    /// A capability (§5.8.7).
    public struct Name: OpenSet {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A credential can be created without a gesture, after a sign-in with a password.
        public static let conditionalCreate = Name(rawValue: "conditionalCreate")
        /// Passkeys can be offered as suggestions in a form.
        public static let conditionalGet = Name(rawValue: "conditionalGet")
        /// A nearby phone can be used.
        public static let hybridTransport = Name(rawValue: "hybridTransport")
        /// Passkeys can be created on this device or on a nearby phone.
        public static let passkeyPlatformAuthenticator = Name(rawValue: "passkeyPlatformAuthenticator")
        /// The device itself can verify its user.
        public static let userVerifyingPlatformAuthenticator = Name(rawValue: "userVerifyingPlatformAuthenticator")
        /// Related origins are supported.
        public static let relatedOrigins = Name(rawValue: "relatedOrigins")
        /// `signalAllAcceptedCredentials()` is available.
        public static let signalAllAcceptedCredentials = Name(rawValue: "signalAllAcceptedCredentials")
        /// `signalCurrentUserDetails()` is available.
        public static let signalCurrentUserDetails = Name(rawValue: "signalCurrentUserDetails")
        /// `signalUnknownCredential()` is available.
        public static let signalUnknownCredential = Name(rawValue: "signalUnknownCredential")
        /// The extension with this identifier is supported.
        public static func `extension`(_ identifier: String) -> Name { Name(rawValue: "extension:" + identifier) }
    }

    private let values: [String: Bool]

    /// Reads the object of booleans sent by the page. Other values are ignored.
    public init(json: JSONValue) {
        var values: [String: Bool] = [:]
        for member in json.object?.members ?? [] { values[member.key] = member.value.bool }
        self.values = values
    }

    /// Whether the browser has a capability; `nil` if it does not report it.
    public subscript(name: Name) -> Bool? { values[name.rawValue] }
}
