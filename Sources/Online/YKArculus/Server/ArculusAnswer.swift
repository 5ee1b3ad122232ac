// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

extension RegistrationResponse {
    /// The message that completes a registration with an Arculus server or a server of the conformance tests. If the
    /// card reports no transport, NFC is used.
    public var arculusJSON: JSONValue {
        var response = JSONValue.Object()
        response["clientDataJSON"] = clientDataJSON.map(JSONValue.base64url)
        response["attestationObject"] = .base64url(attestationObjectBytes)
        let ways = transports.isEmpty ? ["nfc"] : transports.map(\.rawValue)
        response["transports"] = .array(ways.map(JSONValue.string))
        return .completion(id, response, clientExtensionResults)
    }
}

extension AuthenticationResponse {
    /// The message that completes an authentication with an Arculus server or a server of the conformance tests.
    public var arculusJSON: JSONValue {
        var response = JSONValue.Object()
        response["clientDataJSON"] = clientDataJSON.map(JSONValue.base64url)
        response["authenticatorData"] = .base64url(authenticatorData.bytes)
        response["signature"] = .base64url(signature)
        response["userHandle"] = .base64url(userHandle ?? [])
        return .completion(id, response, clientExtensionResults)
    }
}

extension JSONValue {
    fileprivate static func base64url(_ bytes: [UInt8]) -> JSONValue { .string(Base64.encodeURL(bytes)) }

    fileprivate static func completion(_ id: [UInt8], _ response: Object, _ results: Object) -> JSONValue {
        [
            "id": .base64url(id), "rawId": .base64url(id), "type": "public-key", "response": .object(response),
            "getClientExtensionResults": .object(results), "clientExtensionResults": .object(results),
        ]
    }
}
