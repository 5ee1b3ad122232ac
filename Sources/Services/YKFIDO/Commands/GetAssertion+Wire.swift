// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension GetAssertion {
    /// The command byte.
    public var code: CTAPCommandCode { .getAssertion }
    /// The name in the specification.
    public var name: String { "getAssertion" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map: CBOR.Map = [1: .text(rpID), 2: .bytes(clientDataHash)]
        if !allowList.isEmpty { map[3] = .array(allowList.map(\.cbor)) }
        if !extensions.isEmpty { map[4] = .map(extensions) }
        map[5] = CBOR.options([("up", requiresPresence), ("uv", verifiesUser)])
        map.set(auth, at: 6)
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try Response(fields) }
}

extension GetAssertion.Response {
    init(_ fields: CBOR.Fields) throws(WireError) {
        credential = if let inner = try fields.optionalFields(1) { try CredentialDescriptor(inner) } else { nil }
        authenticatorData = try AuthenticatorData(decoding: try fields.required(2, .bytes))
        signature = try fields.required(3, .bytes)
        user = if let inner = try fields.optionalFields(4) { try FIDOUser(inner) } else { nil }
        numberOfCredentials = try fields.optional(5, .unsigned)
        isUserSelected = try fields.optional(6, .bool) ?? false
        largeBlobKey = try fields.optional(7, .bytes)
        unsignedExtensions = try fields.optional(8, .map)
    }
}
