// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

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
