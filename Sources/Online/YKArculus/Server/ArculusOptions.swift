// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// Parses options forwarded by a backend (the SDK's createOptionsResponseFromBackend): bare, under `publicKey` or
/// `options`, with or without the `status` of the conformance tests.
public enum ArculusOptions {
    /// Parses registration options.
    ///
    /// - Throws: `server` if the reply is a refusal, `reply` if it contains no options.
    public static func creation(fromBackend text: [UInt8]) throws(ArculusError) -> PublicKeyCredentialCreationOptions {
        try creation(try ArculusReply(backend: text))
    }

    /// Parses authentication options.
    ///
    /// - Throws: `server` if the reply is a refusal, `reply` if it contains no options.
    public static func request(fromBackend text: [UInt8]) throws(ArculusError) -> PublicKeyCredentialRequestOptions {
        try request(try ArculusReply(backend: text))
    }

    static func creation(_ reply: ArculusReply) throws(ArculusError) -> PublicKeyCredentialCreationOptions {
        do { return try PublicKeyCredentialCreationOptions(json: inner(reply)) } catch {
            throw .reply("the server's options: \(error)")
        }
    }

    static func request(_ reply: ArculusReply) throws(ArculusError) -> PublicKeyCredentialRequestOptions {
        do { return try PublicKeyCredentialRequestOptions(json: inner(reply)) } catch {
            throw .reply("the server's options: \(error)")
        }
    }

    private static func inner(_ reply: ArculusReply) -> JSONValue {
        if let options = reply.object["options"], options.object != nil, reply.object["challenge"] == nil {
            return options
        }
        return .object(reply.object)
    }
}

/// The options that a client requests from a server.
public struct ArculusRegistrationOptions: Hashable, Sendable {
    /// Whether the user must be verified.
    public var userVerification = UserVerification.required
    /// The attestation that the server should request.
    public var attestation = AttestationConveyance.none
    /// Whether the credential must be discoverable; `nil` lets the server decide.
    public var residentKey: ResidentKeyRequirement?
    /// The acceptable algorithms, by the server's names such as `es256`; empty lets the server decide.
    public var algorithms: [String] = []
    /// Extension inputs.
    public var extensions = JSONValue.Object()
    /// Device data stored by the server (the SDK's registrationInfo).
    public var registrationInfo: JSONValue.Object?

    /// Creates the default options.
    public init() {}

    /// Returns the request that starts a registration.
    func registration(_ username: String, _ displayName: String, _ dialect: ArculusServer.Dialect) -> JSONValue {
        var object = begin(username)
        object["displayName"] = .string(displayName)
        object["attestation"] = .string(attestation.rawValue)
        switch dialect {
        case .conformance:
            var selection = JSONValue.Object()
            selection["authenticatorAttachment"] = .string(AuthenticatorAttachment.crossPlatform.rawValue)
            selection["userVerification"] = .string(userVerification.rawValue)
            if let residentKey {
                selection["residentKey"] = .string(residentKey.rawValue)
                selection["requireResidentKey"] = .bool(residentKey == .required)
            }
            object["authenticatorSelection"] = .object(selection)
        case .arculus:
            object["userVerification"] = .string(userVerification.rawValue)
            object["attachment"] = .string(AuthenticatorAttachment.crossPlatform.rawValue)
            if !algorithms.isEmpty { object["algorithms"] = .array(algorithms.map(JSONValue.string)) }
            object["discoverable_credential"] = residentKey.map { .string($0.rawValue) }
        }
        object["keypair"] = registrationInfo.map(JSONValue.object)
        return .object(object)
    }

    /// Returns the request that starts an authentication; the same in both dialects.
    func authentication(_ username: String) -> JSONValue {
        var object = begin(username)
        object["userVerification"] = .string(userVerification.rawValue)
        return .object(object)
    }

    private func begin(_ username: String) -> JSONValue.Object {
        var object = JSONValue.Object()
        object["username"] = .string(username)
        if !extensions.members.isEmpty { object["extensions"] = .object(extensions) }
        return object
    }
}
