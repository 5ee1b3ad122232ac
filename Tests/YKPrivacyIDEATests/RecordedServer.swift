// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKHTTP
import YKPrivacyIDEA
import YKTransport
import YKWire

/// A recorded conversation with privacyIDEA: `exchanges/NAME.json`.
struct Exchange {
    struct Step {
        let note: String
        let method: HTTPMethod
        let path: String
        let request: JSONValue
        let response: HTTPResponse
    }

    let steps: [Step]

    init(_ name: String) throws {
        let json = try JSONValue(parsing: try Fixture.bytes("exchanges/\(name)", "json"))
        steps = try #require(json["steps"]?.array).compactMap { step in
            guard let request = step["request"], let answer = step["response"],
                let status = answer["status"]?.int, let method = request["method"]?.string,
                let path = request["path"]?.string
            else { return nil }
            return Step(
                note: step["note"]?.string ?? "", method: try #require(HTTPMethod(rawValue: method)), path: path,
                request: request, response: Self.response(Int(status), answer))
        }
    }

    private static func response(_ status: Int, _ answer: JSONValue) -> HTTPResponse {
        var fields = [HTTPField("Content-Type", answer["contentType"]?.string ?? "")]
        if let cookie = answer["setCookie"]?.string { fields.append(HTTPField("Set-Cookie", cookie)) }
        let body = answer["body"] ?? .null
        return HTTPResponse(status: status, fields: fields, body: Array((body.string ?? body.text).utf8))
    }

    /// The first answer whose note begins so.
    func answer(_ note: String) throws -> HTTPResponse {
        try #require(steps.first { $0.note.hasPrefix(note) }).response
    }
}

enum Fixture {
    static func bytes(_ name: String, _ type: String) throws -> [UInt8] {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: type))
        return Array(try Data(contentsOf: url))
    }
}

/// Answers one request after the other, and keeps what it was asked.
actor ScriptedServer: HTTPClient {
    private var answers: [Result<HTTPResponse, HTTPError>]
    private(set) var requests: [HTTPRequest] = []

    init(_ answers: [HTTPResponse]) { self.answers = answers.map { .success($0) } }

    init(failing error: HTTPError) { answers = [.failure(error)] }

    func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        requests.append(request)
        guard !answers.isEmpty else { throw .unreachable("nothing is left of the script") }
        return try answers.removeFirst().get()
    }
}
