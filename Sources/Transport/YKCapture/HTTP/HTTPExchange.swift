// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKWire

extension Capture {
    /// A request to a server, and its outcome.
    public struct HTTPExchange: Sendable, Hashable {
        /// The outcome of a request.
        public enum Outcome: Sendable, Hashable {
            /// The server answered.
            case answer(status: Int, fields: [HTTPField], body: [UInt8])
            /// There was no answer.
            case failure(HTTPError)
        }

        /// The method, such as `POST`.
        public var method: String
        /// The URL with its query.
        public var url: String
        /// The header fields of the request.
        public var fields: [HTTPField]
        /// The body of the request; `nil` for none.
        public var body: [UInt8]?
        /// The outcome.
        public var outcome: Outcome
        /// The secret parts.
        public var secrets: HTTPSecrets

        /// Creates an exchange.
        public init(
            method: String, url: String, fields: [HTTPField], body: [UInt8]?, outcome: Outcome, secrets: HTTPSecrets
        ) {
            (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
            (self.outcome, self.secrets) = (outcome, secrets)
        }
    }
}

extension Capture.HTTPExchange {
    /// The placeholder for a secret.
    static let hidden = "<hidden>"

    /// The exchange without its secrets and without header fields that may contain any.
    func redacted() -> Self {
        var exchange = self
        exchange.url = hiddenQuery
        exchange.fields = fields.filter(\.isHarmless)
        exchange.body = body.map { MessageBody.hiding(secrets.request, in: $0, fields.type) }
        switch outcome {
        case .answer(let status, let fields, let body):
            exchange.outcome = .answer(
                status: status, fields: fields.filter(\.isHarmless),
                body: MessageBody.hiding(secrets.answer, in: body, fields.type))
        case .failure(.redirected(_, let status)): exchange.outcome = .failure(.redirected(to: "", status: status))
        case .failure: break
        }
        return exchange
    }

    /// Whether two requests are the same: method, URL, media type and body.
    func asks(_ other: Self) -> Bool {
        method == other.method && url == other.url && fields.type == other.fields.type
            && (body ?? []) == (other.body ?? [])
    }

    /// Whether the whole answer was redacted.
    var hidesAnswer: Bool {
        guard case .answer(_, _, let body) = outcome, secrets.answer == .all else { return false }
        return body == Array(Self.hidden.utf8)
    }

    /// The method and URL of the request, without secrets.
    var line: String { "\(method) \(hiddenQuery)" }

    private var hiddenQuery: String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let query = Array(url.utf8[url.utf8.index(after: mark)...])
        let shown = MessageBody.rewritingForm(query) { name, _ in secrets.request.hides(name) ? Self.hidden : nil }
        return String(url[...mark]) + String(decoding: shown, as: UTF8.self)
    }
}

extension HTTPSecrets.Part {
    func hides(_ name: String) -> Bool {
        switch self {
        case .all: true
        case .members(let names): names.contains(name)
        }
    }
}

extension HTTPField {
    /// Whether the field's value is never a secret, whoever sends it.
    var isHarmless: Bool {
        ["accept", "content-type", "content-length", "date", "origin", "retry-after", "soapaction"]
            .contains(name.lowercased())
    }
}

extension [HTTPField] {
    /// The media type in lower case, without its parameters.
    var type: String? {
        values(of: "Content-Type").first?.split(separator: ";").first?.lowercased().filter { $0 != " " }
    }
}
