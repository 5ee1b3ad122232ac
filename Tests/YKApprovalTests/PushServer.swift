// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKHTTP
import YKPrivacyIDEA
import YKTransport
import YKWire

@testable import YKApproval

/// A privacyIDEA in a few lines that verifies what it is sent as the real one does, and has a clock of its own.
final class PushServer: HTTPClient {
    struct State {
        /// The server's time, in seconds since 1970.
        var now: Int64 = 1_795_319_925
        /// What `Date` says; the server's time unless it lies.
        var date: Int64?
        /// The device's key, once it is enrolled.
        var device: PublicKey?
        /// What a poll answers.
        var entries: [JSONValue] = []
        /// What is answered instead of the usual, by method and path.
        var answers: [String: HTTPResponse] = [:]
        /// What the last approval was answered with besides.
        var detail: JSONValue = .null
        /// Everything that was sent: method, address and the form's fields.
        var sent: [(method: HTTPMethod, path: String, fields: [String: String])] = []
        /// Whether answers to requests are accepted.
        var accepts = true
    }

    let vectors: PushVectors
    let state = Mutex(State())

    init(_ vectors: PushVectors) { self.vectors = vectors }

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        state.withLock { state in
            let target = request.url.target
            let path = String(target.prefix { $0 != "?" })
            let query = target.dropFirst(path.count + 1)
            let body = String(decoding: request.body ?? [], as: UTF8.self)
            let fields = body.hasPrefix("{") ? [:] : Self.fields(body.isEmpty ? String(query) : body)
            state.sent.append((request.method, path, fields))
            let named = state.answers["\(request.method.rawValue) \(path)"]
            return named ?? answer(request.method, path, fields, &state)
        }
    }

    private func answer(
        _ method: HTTPMethod, _ path: String, _ fields: [String: String], _ state: inout State
    ) -> HTTPResponse {
        guard path == "/ttype/push", let serial = fields["serial"] else { return refusal(404, 601, "no", state) }
        if method == .get {
            guard let time = Self.seconds(fields["timestamp"] ?? ""), abs(time - state.now) <= 60 else {
                return refusal(400, 10, "ERR10: Timestamp not in valid range.", state)
            }
            guard verifies("\(serial)|\(fields["timestamp"] ?? "")", fields, state) else {
                return refusal(400, 10, "ERR10: Could not verify signature!", state)
            }
            return Self.reply(.array(state.entries), .null, state)
        }
        if let key = fields["pubkey"] {
            guard fields["enrollment_credential"] == "9311ee50678983c0f29d3d843f86e39405e2b427" else {
                return refusal(400, 905, "ERR905: Invalid enrollment credential.", state)
            }
            state.device = (try? Base64.decode(key)).flatMap { try? PublicKey(subjectPublicKeyInfo: $0) }
            return Self.reply(true, ["public_key": .string(vectors.serverPublicKey)], state)
        }
        if let address = fields["new_fb_token"] {
            let text = "\(address)|\(serial)|\(fields["timestamp"] ?? "")"
            guard verifies(text, fields, state) else { return refusal(400, 10, "ERR10", state) }
            return Self.reply(true, .null, state)
        }
        var text = "\(fields["nonce"] ?? "")|\(serial)"
        if let number = fields["presence_answer"] { text += "|\(number)" }
        if fields["decline"] == "1" { text += "|decline" + (fields["decline_reason"].map { "|\($0)" } ?? "") }
        return Self.reply(.bool(state.accepts && verifies(text, fields, state)), state.detail, state)
    }

    private func verifies(_ text: String, _ fields: [String: String], _ state: State) -> Bool {
        guard let signature = fields["signature"], let bytes = try? Base32.decode(signature),
            signature == Base32.encode(bytes, padded: true)
        else { return false }
        return state.device?.isValid(bytes, for: Array(text.utf8), .sha256) ?? false
    }

    static func reply(_ value: JSONValue, _ detail: JSONValue, _ state: State) -> HTTPResponse {
        json(200, ["result": ["status": true, "value": value], "detail": detail], state)
    }

    func refusal(_ status: Int, _ code: Int64, _ message: String, _ state: State) -> HTTPResponse {
        Self.json(
            status, ["result": ["status": false, "error": ["code": .int(code), "message": .string(message)]]], state)
    }

    static func json(_ status: Int, _ value: JSONValue, _ state: State) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: [HTTPField("Content-Type", "application/json"), HTTPField("Date", date(state.date ?? state.now))],
            body: Array(value.text.utf8))
    }

    /// RFC 9110 §5.6.7.
    private static func date(_ seconds: Int64) -> String {
        let date = UTCDate(seconds: seconds)
        let (year, month, day) = date.parts
        let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = UTCDate.timestamp(seconds).dropFirst(11).dropLast()
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        return "\(days[date.day % 7]), \(day < 10 ? "0" : "")\(day) \(names[month - 1]) \(year) \(clock) GMT"
    }

    private static func seconds(_ timestamp: String) -> Int64? {
        guard let date = UTCDate(timestamp.prefix(10)) else { return nil }
        let parts = timestamp.dropFirst(11).dropLast().split(separator: ":").compactMap { Int64($0) }
        return parts.count == 3 ? date.seconds + parts[0] * 3600 + parts[1] * 60 + parts[2] : nil
    }

    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for field in text.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[PercentEncoding.decode(parts[0]) ?? ""] = PercentEncoding.decode(parts.last ?? "") ?? ""
        }
        return fields
    }
}
