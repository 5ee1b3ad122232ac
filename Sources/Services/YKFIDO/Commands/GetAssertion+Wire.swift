// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

extension GetAssertion {
    private typealias Key = CTAPProtocol.GetAssertion.Request

    /// The command byte.
    public var code: CTAPCommandCode { .getAssertion }
    /// The name in the specification.
    public var name: String { "getAssertion" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.rpId: .text(rpID), Key.clientDataHash: .bytes(clientDataHash)])
        if !allowList.isEmpty { map[Key.allowList] = .array(allowList.map(\.cbor)) }
        if !extensions.isEmpty { map[Key.extensions] = .map(extensions) }
        map[Key.options] = CBOR.options([("up", requiresPresence), ("uv", verifiesUser)])
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try Response(fields) }
}

extension GetAssertion.Response {
    private typealias Key = CTAPProtocol.GetAssertion.Reply

    init(_ fields: CBOR.Fields) throws(WireError) {
        credential =
            if let inner = try fields.optionalFields(Key.credential) { try CredentialDescriptor(inner) } else { nil }
        authenticatorData = try AuthenticatorData(decoding: try fields.required(Key.authData, .bytes))
        signature = try fields.required(Key.signature, .bytes)
        user = if let inner = try fields.optionalFields(Key.user) { try FIDOUser(inner) } else { nil }
        numberOfCredentials = try fields.optional(Key.numberOfCredentials, .unsigned)
        isUserSelected = try fields.optional(Key.userSelected, .bool) ?? false
        largeBlobKey = try fields.optional(Key.largeBlobKey, .bytes)
        unsignedExtensions = try fields.optional(Key.unsignedExtensionOutputs, .map)
    }
}
