// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension Narration {
    /// Describes a request to a server and the response.
    init(_ exchange: Capture.HTTPExchange) {
        let shown = exchange.redacted()
        var details = Self.lines(shown.fields, shown.body ?? [], "> ")
        let words: String
        switch shown.outcome {
        case .answer(let status, let fields, let body):
            words = "\(status)\(Self.phrase(status)), \(body.count) bytes"
            details += Self.lines(fields, body, "< ")
        case .failure(let error): words = "no answer: \(error)"
        }
        self.init("\(exchange.line) → \(words)", details: details, application: "HTTP")
    }

    private static func lines(_ fields: [HTTPField], _ body: [UInt8], _ mark: String) -> [String] {
        let head = fields.map { "\(mark)\($0.name): \($0.value)" }
        guard String(validating: body, as: UTF8.self) != nil else { return head + ["\(mark)\(Hex.encode(body))"] }
        let lines = body.split { $0 == 0x0A || $0 == 0x0D }
        return head + lines.map { mark + String(decoding: $0, as: UTF8.self) }
    }

    /// The names of status codes (RFC 9110 §15).
    private static func phrase(_ status: Int) -> String {
        let names = [
            200: "ok", 201: "created", 204: "no content", 400: "bad request", 401: "unauthorized", 403: "forbidden",
            404: "not found", 405: "method not allowed", 409: "conflict", 429: "too many requests",
            500: "internal server error", 502: "bad gateway", 503: "service unavailable",
        ]
        return names[status].map { " (\($0))" } ?? ""
    }
}
