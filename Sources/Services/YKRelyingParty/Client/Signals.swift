// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// What a page tells the browser about the account's credentials, so that passkey providers can follow
/// (WebAuthn Level 3 §5.1.10): the arguments of the functions of `PublicKeyCredential`, as JSON.
extension WebAuthnRelyingParty {
    /// The argument of `signalUnknownCredential()`: a credential that no account has (§5.1.10.2). Meant for the answer
    /// to a sign-in that failed with ``CeremonyError/unknownCredential``.
    ///
    /// - Parameter credential: The credential's identifier.
    public func unknownCredentialSignal(_ credential: [UInt8]) -> JSON {
        ["rpId": .string(id), "credentialId": .bytes(credential)]
    }

    /// The argument of `signalAllAcceptedCredentials()`: all credentials of an account (§5.1.10.3). Only for a browser
    /// that has signed in.
    ///
    /// - Parameters:
    ///   - user: The user handle.
    ///   - credentials: The credentials that the account has.
    public func acceptedCredentialsSignal(of user: [UInt8], _ credentials: [CredentialRecord]) -> JSON {
        [
            "rpId": .string(id), "userId": .bytes(user),
            "allAcceptedCredentialIds": .array(credentials.map { .bytes($0.id) }),
        ]
    }

    /// The argument of `signalCurrentUserDetails()`: the names of an account (§5.1.10.4). Only for a browser that has
    /// signed in.
    ///
    /// - Parameter user: The account.
    public func userDetailsSignal(_ user: FIDOUser) -> JSON {
        [
            "rpId": .string(id), "userId": .bytes(user.id), "name": .string(user.name ?? ""),
            "displayName": .string(user.displayName ?? ""),
        ]
    }
}

/// What a browser can do, as `PublicKeyCredential.getClientCapabilities()` tells the page (WebAuthn Level 3 §5.1.7).
public struct ClientCapabilities: Hashable, Sendable {
    /// A capability (§5.8.7). An open set.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// A credential can be created without a gesture, after a sign-in with a password.
        public static let conditionalCreate = Name(rawValue: "conditionalCreate")
        /// Passkeys can be offered as suggestions in a form.
        public static let conditionalGet = Name(rawValue: "conditionalGet")
        /// A phone nearby can be used.
        public static let hybridTransport = Name(rawValue: "hybridTransport")
        /// Passkeys can be created on this device or on a phone nearby.
        public static let passkeyPlatformAuthenticator = Name(rawValue: "passkeyPlatformAuthenticator")
        /// The device itself can verify its user.
        public static let userVerifyingPlatformAuthenticator = Name(rawValue: "userVerifyingPlatformAuthenticator")
        /// Related origins are honoured.
        public static let relatedOrigins = Name(rawValue: "relatedOrigins")
        /// `signalAllAcceptedCredentials()` is there.
        public static let signalAllAcceptedCredentials = Name(rawValue: "signalAllAcceptedCredentials")
        /// `signalCurrentUserDetails()` is there.
        public static let signalCurrentUserDetails = Name(rawValue: "signalCurrentUserDetails")
        /// `signalUnknownCredential()` is there.
        public static let signalUnknownCredential = Name(rawValue: "signalUnknownCredential")
        /// An extension is known, by its identifier.
        public static func `extension`(_ identifier: String) -> Name { Name(rawValue: "extension:" + identifier) }
    }

    private let values: [String: Bool]

    /// Reads what the page sends: an object of booleans. Other values are passed over.
    public init(json: JSON) {
        var values: [String: Bool] = [:]
        for member in json.object?.members ?? [] { values[member.key] = member.value.bool }
        self.values = values
    }

    /// Whether the browser has a capability; `nil` when it does not say.
    public subscript(name: Name) -> Bool? { values[name.rawValue] }
}
