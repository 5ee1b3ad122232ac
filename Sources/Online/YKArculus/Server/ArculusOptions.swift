// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKWire

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
