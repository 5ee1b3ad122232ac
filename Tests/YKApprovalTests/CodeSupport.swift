// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKHTTP
import YKTestSupport
import YKTransport
import YKWire

@testable import YKApproval

/// A server that gives its answers one after the other, and keeps the requests.
final class ScriptedServer: HTTPClient {
    private let answers: Mutex<[Result<HTTPResponse, HTTPError>]>
    private let kept = Mutex<[HTTPRequest]>([])

    init(_ answers: [Result<HTTPResponse, HTTPError>]) { self.answers = Mutex(answers) }

    convenience init(_ answers: HTTPResponse...) { self.init(answers.map { .success($0) }) }

    var requests: [HTTPRequest] { kept.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        kept.withLock { $0.append(request) }
        let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        return try (next ?? .failure(.timedOut)).get()
    }

    /// The fields of a form that was sent.
    func form(_ index: Int) -> [String: String] {
        guard requests.indices.contains(index) else { return [:] }
        let body = String(decoding: requests[index].body ?? [], as: UTF8.self)
        var fields: [String: String] = [:]
        for pair in body.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[String(parts[0])] = PercentEncoding.decode(parts[1])
        }
        return fields
    }

    /// The object that was sent.
    func json(_ index: Int) -> JSONValue? {
        guard requests.indices.contains(index) else { return nil }
        return requests[index].body.flatMap { try? JSONValue(parsing: $0) }
    }
}

extension HTTPResponse {
    static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, fields: [HTTPField("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8))
    }

    static func json(_ json: JSONValue, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, fields: [HTTPField("Content-Type", "application/json")], body: Array(json.text.utf8))
    }

    /// An answer of privacyIDEA's with this value.
    static func value(_ value: JSONValue) -> HTTPResponse { .json(["result": ["status": true, "value": value]]) }

    /// A refusal of privacyIDEA's.
    static func refusal(_ code: Int64, status: Int = 400) -> HTTPResponse {
        .json(
            ["result": ["status": false, "error": ["code": .int(code), "message": .string("ERR\(code): no")]]],
            status: status)
    }
}

/// The recorded steps of a flow with a server.
struct RecordedFlow {
    let steps: [JSONValue]

    init(_ name: String) throws {
        let text = Recordings.text("Tests/YKPrivacyIDEATests/exchanges/\(name).json")
        steps = try JSONValue(parsing: text)["steps"]?.array ?? []
    }

    /// The answer of the step with a note, the first of them.
    func answer(_ note: String, path: String? = nil) throws -> HTTPResponse {
        let step = steps.first { $0["note"]?.string == note && (path == nil || $0["request"]?["path"]?.string == path) }
        let response = try #require(step?["response"], "no step '\(note)'")
        let status = Int(try #require(response["status"]?.int))
        guard let text = response["body"]?.string else { return .json(try #require(response["body"]), status: status) }
        return .text(text, status: status)
    }

    /// What was sent in the step with a note, the first of them.
    func sent(_ note: String) throws -> JSONValue {
        let request = try #require(steps.first { $0["note"]?.string == note }?["request"])
        return try #require(request["json"] ?? request["data"])
    }

    /// A value that stands between the steps.
    func value(_ name: String) throws -> JSONValue { try #require(steps.first { $0[name] != nil }?[name]) }
}
