// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension PreviewSign {
    /// A signing key as stored in a file: the registration that created it, which is not secret. Without the file the
    /// key cannot be used again.
    public struct KeyFile: Sendable {
        /// The credential that the key was created with.
        public let registration: RegistrationResponse
        /// The relying party.
        public let rpID: String
        /// The key.
        public let key: GeneratedKey

        /// Creates the file content for a new key.
        ///
        /// - Throws: `unsupported` if the registration has no signing key.
        public init(_ registration: RegistrationResponse, rpID: String) throws(WebAuthnError) {
            guard let key = try GeneratedKey(results: registration.clientExtensionResults) else {
                throw .key(.unsupported(identifier))
            }
            (self.registration, self.rpID, self.key) = (registration, rpID, key)
        }

        /// Reads a file: a JSON object with the members `credential`, RegistrationResponseJSON, and `rpId`.
        ///
        /// - Throws: `malformed` with the member.
        public init(json text: [UInt8]) throws(FormatError) {
            self = try FormatError.lifting { () throws(WebAuthnError) in
                let members = try JSONMembers.file(text)
                let registration = try RegistrationResponse(json: .object(try members.required("credential", .object)))
                guard try GeneratedKey(results: registration.clientExtensionResults) != nil else {
                    throw .member("credential.clientExtensionResults", problem: "it has no signing key")
                }
                return try KeyFile(registration, rpID: try members.required("rpId", .string))
            }
        }

        /// The content of the file.
        public var json: JSONValue { ["credential": registration.json, "rpId": .string(rpID)] }
    }
}

extension PreviewSign.DerivedKey {
    /// Reads a file: a JSON object with the members `publicKey`, PEM, and `additionalArgs`, base64url.
    ///
    /// - Throws: `malformed` with the member.
    public init(json text: [UInt8]) throws(FormatError) {
        self = try FormatError.lifting { () throws(WebAuthnError) in
            let members = try JSONMembers.file(text)
            let arguments = try members.decode("additionalArgs", try members.required("additionalArgs", .bytes)) {
                bytes throws(WireError) in try PreviewSign.Arguments(decoding: bytes)
            }
            let pem = Array(try members.required("publicKey", .string).utf8)
            let key: COSEKey
            do throws(FormatError) { key = try COSEKey(pem: pem) } catch {
                throw .member("publicKey", problem: error.description)
            }
            guard case .ec2(.p256, let x, let y) = key.material else {
                throw .member("publicKey", problem: "not on P-256")
            }
            return Self(publicKey: COSEKey(ec2: .p256, algorithm: .esp256, x: x, y: y), arguments: arguments)
        }
    }

    /// The content of the file.
    public var json: JSONValue {
        ["publicKey": .string(publicKey.pem ?? ""), "additionalArgs": .bytes(arguments.encoded)]
    }
}

extension FormatError {
    /// Lifts an error of JSON, which names the member.
    fileprivate static func lifting<Value>(
        _ body: () throws(WebAuthnError) -> Value
    ) throws(FormatError) -> Value {
        do { return try body() } catch { throw FormatError(.malformed("\(error)")) }
    }
}

extension JSONMembers {
    /// The members of the object in a file.
    fileprivate static func file(_ text: [UInt8]) throws(WebAuthnError) -> JSONMembers {
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch { throw .json(error) }
        return try JSONMembers(json)
    }
}
