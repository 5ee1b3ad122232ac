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

extension Capture.HTTPExchange {
    /// The exchange as the value of `h`.
    var json: JSONValue {
        var object = JSONValue.Object()
        object["method"] = .string(method)
        object["url"] = .string(url)
        object["fields"] = Self.json(fields)
        Self.put(body, "body", &object)
        switch outcome {
        case .answer(let status, let fields, let body):
            object["status"] = .int(Int64(status))
            object["answerFields"] = Self.json(fields)
            Self.put(body, "answer", &object)
        case .failure(let error): object["failure"] = error.json
        }
        object["secrets"] = ["request": secrets.request.json, "answer": secrets.answer.json]
        return .object(object)
    }

    private static func json(_ fields: [HTTPField]) -> JSONValue? {
        fields.isEmpty ? nil : .array(fields.map { .string("\($0.name): \($0.value)") })
    }

    /// Stores UTF-8 bytes as text, and other bytes in hexadecimal.
    private static func put(_ bytes: [UInt8]?, _ key: String, _ object: inout JSONValue.Object) {
        guard let bytes else { return }
        if let text = String(validating: bytes, as: UTF8.self) {
            object[key] = .string(text)
        } else {
            object[key + "Hex"] = .string(Hex.encode(bytes))
        }
    }

    /// Parses the value of `h`.
    init(_ json: JSONValue, line: Int) throws(CaptureError) {
        guard let object = json.object else { throw CaptureError(line: line, "\"h\" is not an object") }
        func text(_ key: String) throws(CaptureError) -> String {
            guard let text = object[key]?.string else { throw CaptureError(line: line, "\"\(key)\" is not a string") }
            return text
        }
        let outcome: Outcome
        if let failure = object["failure"] {
            guard let error = HTTPError(failure) else { throw CaptureError(line: line, "\"failure\" cannot be read") }
            outcome = .failure(error)
        } else {
            guard let status = object["status"]?.int.flatMap(Int.init(exactly:)) else {
                throw CaptureError(line: line, "\"h\" has neither a \"status\" nor a \"failure\"")
            }
            outcome = .answer(
                status: status, fields: try Self.fields(object, "answerFields", line),
                body: try Self.bytes(object, "answer", line) ?? [])
        }
        self.init(
            method: try text("method"), url: try text("url"), fields: try Self.fields(object, "fields", line),
            body: try Self.bytes(object, "body", line), outcome: outcome,
            secrets: HTTPSecrets(
                request: HTTPSecrets.Part(object["secrets"]?["request"]),
                answer: HTTPSecrets.Part(object["secrets"]?["answer"])))
    }

    private static func fields(
        _ object: JSONValue.Object, _ key: String, _ line: Int
    ) throws(CaptureError) -> [HTTPField] {
        guard let value = object[key] else { return [] }
        guard let lines = value.array?.map(\.string), !lines.contains(nil) else {
            throw CaptureError(line: line, "\"\(key)\" is not an array of strings")
        }
        return [HTTPField](parsing: Array(lines.map { ($0 ?? "") + "\n" }.joined().utf8))
    }

    private static func bytes(
        _ object: JSONValue.Object, _ key: String, _ line: Int
    ) throws(CaptureError) -> [UInt8]? {
        if object[key + "Hex"] != nil { return try Capture.Event.hex(object, key + "Hex", line) }
        guard let value = object[key] else { return nil }
        guard let text = value.string else { throw CaptureError(line: line, "\"\(key)\" is not a string") }
        return Array(text.utf8)
    }
}

extension HTTPSecrets.Part {
    fileprivate var json: JSONValue {
        switch self {
        case .all: "all"
        case .members(let names): .array(names.sorted().map(JSONValue.string))
        }
    }

    /// Parses which parts are secret: all of them if the recording does not say.
    fileprivate init(_ json: JSONValue?) {
        let names = json?.array?.map(\.string)
        self = names.map { $0.contains(nil) ? .all : .members(Set($0.compactMap(\.self))) } ?? .all
    }
}

extension HTTPError {
    fileprivate var json: JSONValue {
        switch self {
        case .notInstalled: ["kind": "not-installed"]
        case .malformed(let reason): ["kind": "malformed", "reason": .string(reason)]
        case .unreachable(let reason): ["kind": "unreachable", "reason": .string(reason)]
        case .timedOut: ["kind": "timed-out"]
        case .cancelled: ["kind": "cancelled"]
        case .certificate(let reason): ["kind": "certificate", "reason": .string(reason)]
        case .pin(let seen): ["kind": "pin", "seen": seen.map { .string($0.description) } ?? .null]
        case .authorities(let reason): ["kind": "authorities", "reason": .string(reason)]
        case .redirected(let place, let status):
            ["kind": "redirected", "to": .string(place), "status": .int(Int64(status))]
        case .tooLarge(let limit): ["kind": "too-large", "limit": .int(Int64(limit))]
        case .failed(let code, let reason): ["kind": "failed", "code": .int(Int64(code)), "reason": .string(reason)]
        case .link(let error): ["kind": "failed", "code": 0, "reason": .string("\(error)")]
        }
    }

    fileprivate init?(_ json: JSONValue) {
        func number(_ key: String) -> Int { json[key]?.int.flatMap(Int.init(exactly:)) ?? 0 }
        let reason = json["reason"]?.string ?? ""
        switch json["kind"]?.string {
        case "not-installed"?: self = .notInstalled
        case "malformed"?: self = .malformed(reason)
        case "unreachable"?: self = .unreachable(reason)
        case "timed-out"?: self = .timedOut
        case "cancelled"?: self = .cancelled
        case "certificate"?: self = .certificate(reason)
        case "pin"?: self = .pin(seen: json["seen"]?.string.flatMap { try? HTTPPin($0) })
        case "authorities"?: self = .authorities(reason)
        case "redirected"?: self = .redirected(to: json["to"]?.string ?? "", status: number("status"))
        case "too-large"?: self = .tooLarge(limit: number("limit"))
        case "failed"?: self = .failed(number("code"), reason)
        default: return nil
        }
    }
}
