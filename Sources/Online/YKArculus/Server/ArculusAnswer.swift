// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKHTTP
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

/// The result of a call of Arculus' SDK, in JSON form.
public struct ArculusResult: Hashable, Sendable {
    /// The status of a result.
    public struct Status: OpenSet {
        /// The word.
        public let rawValue: String
        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The call succeeded.
        public static let ok = Status(rawValue: "ok")
        /// The call failed.
        public static let failed = Status(rawValue: "failed")
        /// The call failed because the server's session has expired.
        public static let noSession = Status(rawValue: "false")
    }

    /// The status.
    public var status: Status
    /// The error message; empty on success.
    public var errorMessage: String
    /// The code as a string: from the card, from the server, or the HTTP status.
    public var statuscode: String
    /// The code as a number: from the card, or the HTTP status.
    public var responseCode: Int

    /// The result of a successful call.
    public static let ok = ArculusResult(status: .ok, errorMessage: "", statuscode: "200", responseCode: 200)

    /// The result as a JSON object with the four members.
    public var json: JSONValue {
        [
            "status": .string(status.rawValue), "errorMessage": .string(errorMessage),
            "statuscode": .string(statuscode), "responseCode": .int(Int64(responseCode)),
        ]
    }
}

/// A server's refusal.
public struct ArculusRefusal: Hashable, Sendable {
    /// The code: the server's own if it sent one, E0024R for an expired session, otherwise the HTTP status.
    public let code: ArculusCode
    /// The status word; `false` for an expired session.
    public let status: ArculusResult.Status
    /// The server's message.
    public let message: String
    /// The HTTP status.
    public let httpStatus: Int

    /// Creates a refusal.
    public init(code: ArculusCode, status: ArculusResult.Status = .failed, message: String, httpStatus: Int) {
        self.code = code
        self.status = status
        self.message = message
        self.httpStatus = httpStatus
    }

    /// The result in the form of the SDK.
    public var result: ArculusResult {
        ArculusResult(status: status, errorMessage: message, statuscode: code.rawValue, responseCode: httpStatus)
    }
}

/// The reply of a server, or of a backend that forwards it: `status`, `errorMessage`, and the requested data.
struct ArculusReply {
    /// The whole object.
    let object: JSONValue.Object

    /// Maximum length of a server message that is shown.
    private static let messageLimit = 500

    /// Parses a reply.
    ///
    /// - Throws: `server` if it is a refusal, `reply` if it is not a reply of such a server.
    init(_ response: HTTPResponse) throws(ArculusError) {
        guard let json = try? JSONValue(parsing: response.body), let object = json.object else {
            throw Self.unreadable(response)
        }
        try self.init(object, httpStatus: response.status)
    }

    /// Reads a reply forwarded by a backend.
    init(backend text: [UInt8]) throws(ArculusError) {
        guard let json = try? JSONValue(parsing: text), let object = json.object else {
            throw .reply("the backend's reply is not a JSON object")
        }
        try self.init(object, httpStatus: 200)
    }

    private init(_ object: JSONValue.Object, httpStatus: Int) throws(ArculusError) {
        self.object = object
        let status = object["status"]?.string.map(ArculusResult.Status.init(rawValue:))
        let isGood = (200...299).contains(httpStatus)
        guard !isGood || status.map({ $0 != .ok }) ?? false else { return }
        let message = String((object["errorMessage"]?.string ?? "").prefix(Self.messageLimit))
        let said = object["statuscode"]?.string ?? object["statuscode"]?.int.map { String($0) }
        let http = object["responseCode"]?.int.map { Int(clamping: $0) } ?? httpStatus
        let code = ArculusCode.find(in: said ?? "") ?? ArculusCode.find(in: message)
        let isOver = code == .sessionExpired || code == nil && httpStatus == 408
        throw .server(
            ArculusRefusal(
                code: isOver ? .sessionExpired : code ?? ArculusCode(rawValue: said ?? String(http)),
                status: isOver ? .noSession : status == .ok ? .failed : status ?? .failed,
                message: message.isEmpty ? "the server refused with HTTP status \(httpStatus)" : message,
                httpStatus: isGood ? http : httpStatus))
    }

    private static func unreadable(_ response: HTTPResponse) -> ArculusError {
        if response.status == 408 {
            return .server(
                ArculusRefusal(
                    code: .sessionExpired, status: .noSession, message: "the session has expired", httpStatus: 408))
        }
        let type = response.type.map { String($0.prefix(64)) } ?? "no type"
        return .reply("HTTP status \(response.status) with \(response.body.count) bytes of \(type), JSON was expected")
    }
}
