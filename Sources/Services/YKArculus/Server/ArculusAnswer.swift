// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKWire

extension RegistrationResponse {
    /// The message that completes a registration with an Arculus server or a server of the conformance tests. If the
    /// card reports no transport, NFC is used.
    public var arculusJSON: JSON {
        var response = JSON.Object()
        response["clientDataJSON"] = clientDataJSON.map(JSON.base64url)
        response["attestationObject"] = .base64url(attestationObjectBytes)
        let ways = transports.isEmpty ? ["nfc"] : transports.map(\.rawValue)
        response["transports"] = .array(ways.map(JSON.string))
        return .completion(id, response, clientExtensionResults)
    }
}

extension AuthenticationResponse {
    /// The message that completes an authentication with an Arculus server or a server of the conformance tests.
    public var arculusJSON: JSON {
        var response = JSON.Object()
        response["clientDataJSON"] = clientDataJSON.map(JSON.base64url)
        response["authenticatorData"] = .base64url(authenticatorData.bytes)
        response["signature"] = .base64url(signature)
        response["userHandle"] = .base64url(userHandle ?? [])
        return .completion(id, response, clientExtensionResults)
    }
}

extension JSON {
    fileprivate static func base64url(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURL(bytes)) }

    fileprivate static func completion(_ id: [UInt8], _ response: Object, _ results: Object) -> JSON {
        [
            "id": .base64url(id), "rawId": .base64url(id), "type": "public-key", "response": .object(response),
            "getClientExtensionResults": .object(results), "clientExtensionResults": .object(results),
        ]
    }
}
