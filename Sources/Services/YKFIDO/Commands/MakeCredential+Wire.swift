// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension MakeCredential {
    /// The command byte.
    public var code: CTAPCommandCode { .makeCredential }
    /// The name in the specification.
    public var name: String { "makeCredential" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map: CBOR.Map = [
            1: .bytes(clientDataHash), 2: relyingParty.cbor, 3: user.cbor, 4: .array(parametersList.map(\.cbor)),
        ]
        if !excludeList.isEmpty { map[5] = .array(excludeList.map(\.cbor)) }
        if !extensions.isEmpty { map[6] = .map(extensions) }
        map[7] = CBOR.options([("rk", isResident), ("uv", verifiesUser)])
        map.set(auth, at: 8)
        map[10] = enterpriseAttestation.map(CBOR.unsigned)
        if !attestationFormats.isEmpty { map[11] = .array(attestationFormats.map { .text($0.rawValue) }) }
        return map
    }

    /// Reads the response; one without a new credential is malformed.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response {
        let data = try fields.required(2, .bytes)
        let authenticatorData = try AuthenticatorData(decoding: data)
        guard authenticatorData.credential != nil else {
            throw WireError(
                .missing, at: fields.place(of: 2)?.lowerBound ?? 0, "the authenticator data have no credential")
        }
        return Response(
            format: AttestationFormat(rawValue: try fields.required(1, .text)), authenticatorData: authenticatorData,
            statement: try fields.optional(3, .map) ?? CBOR.Map(),
            isEnterpriseAttestation: try fields.optional(4, .bool) ?? false,
            largeBlobKey: try fields.optional(5, .bytes), unsignedExtensions: try fields.optional(6, .map))
    }
}

extension CBOR {
    /// A map of options; `nil` if none is set.
    static func options(_ options: [(name: String, value: Bool?)]) -> CBOR? {
        var map = Map()
        for option in options { map[.text(option.name)] = option.value.map(CBOR.bool) }
        return map.isEmpty ? nil : .map(map)
    }
}

extension CBOR.Map {
    /// Sets pinUvAuthParam at a key and its protocol at the next one.
    mutating func set(_ auth: PINUVAuth?, at key: UInt64) {
        self[.unsigned(key)] = auth.map { .bytes($0.parameter) }
        self[.unsigned(key + 1)] = auth.map { .unsigned($0.version) }
    }
}
