// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

/// What a client asks a server to ask for.
public struct ArculusWishes: Hashable, Sendable {
    /// Whether the user has to be verified.
    public var userVerification = UserVerification.required
    /// What the server is to be told of the card's origin.
    public var attestation = AttestationConveyance.none
    /// Whether the card remembers the credential itself; `nil` leaves it to the server.
    public var residentKey: ResidentKeyRequirement?
    /// The algorithms that are welcome, in the server's words such as `es256`; empty leaves it to the server.
    public var algorithms: [String] = []
    /// Inputs of extensions.
    public var extensions = JSON.Object()
    /// What the server keeps of the device (the SDK's registrationInfo).
    public var registrationInfo: JSON.Object?

    /// Creates the default requests.
    public init() {}

    /// What begins a registration.
    func registration(_ username: String, _ displayName: String, _ dialect: ArculusServer.Dialect) -> JSON {
        var object = begin(username)
        object["displayName"] = .string(displayName)
        object["attestation"] = .string(attestation.rawValue)
        switch dialect {
        case .conformance:
            var selection = JSON.Object()
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
            if !algorithms.isEmpty { object["algorithms"] = .array(algorithms.map(JSON.string)) }
            object["discoverable_credential"] = residentKey.map { .string($0.rawValue) }
        }
        object["keypair"] = registrationInfo.map(JSON.object)
        return .object(object)
    }

    /// What begins an authentication; the same in both dialects.
    func authentication(_ username: String) -> JSON {
        var object = begin(username)
        object["userVerification"] = .string(userVerification.rawValue)
        return .object(object)
    }

    private func begin(_ username: String) -> JSON.Object {
        var object = JSON.Object()
        object["username"] = .string(username)
        if !extensions.members.isEmpty { object["extensions"] = .object(extensions) }
        return object
    }
}
