// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// The named members of a message body, parsed according to its media type.
enum MessageBody {
    /// Returns the replacement for a value, given its name and, for a text, its value; `nil` leaves it unchanged.
    typealias Change = (_ name: String, _ value: String?) -> String?

    /// The body without its secrets.
    static func hiding(_ part: HTTPSecrets.Part, in body: [UInt8], _ type: String?) -> [UInt8] {
        guard !body.isEmpty, part != .members([]) else { return body }
        let hidden = Capture.HTTPExchange.hidden
        let shown =
            part == .all ? nil : rewriting(body, type) { name, _ in part.hides(name) ? hidden : nil }
        return shown ?? Array(hidden.utf8)
    }

    /// The body with some values replaced, unchanged if there are none; `nil` if its members cannot be determined.
    static func rewriting(_ body: [UInt8], _ type: String?, _ change: Change) -> [UInt8]? {
        switch type {
        case "application/x-www-form-urlencoded"?: return rewritingForm(body, change)
        case "text/plain"?: return rewritingLines(body, change)
        default:
            guard let json = try? JSONValue(parsing: body) else {
                return type == nil && !body.contains(UInt8(ascii: "&")) ? rewritingLines(body, change) : nil
            }
            let changed = rewriting(json, change)
            return changed == json ? body : Array(changed.text.utf8)
        }
    }

    /// A form or query (WHATWG URL §5).
    static func rewritingForm(_ form: [UInt8], _ change: Change) -> [UInt8] {
        let parts = form.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(parts.map { Array(rewritten($0, isEncoded: true, change)) }.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Lines of the form `name=value`.
    private static func rewritingLines(_ text: [UInt8], _ change: Change) -> [UInt8] {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        let changed = lines.map { line -> [UInt8] in
            let end = line.last == 0x0D ? line.suffix(1) : []
            return Array(rewritten(line.dropLast(end.count), isEncoded: false, change)) + end
        }
        return Array(changed.joined(separator: [0x0A]))
    }

    private static func rewritten(_ pair: ArraySlice<UInt8>, isEncoded: Bool, _ change: Change) -> ArraySlice<UInt8> {
        guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return pair }
        func text(_ bytes: ArraySlice<UInt8>) -> String {
            let text = String(decoding: bytes, as: UTF8.self)
            return isEncoded ? PercentEncoding.decode(text.map { $0 == "+" ? " " : String($0) }.joined()) ?? text : text
        }
        guard let value = change(text(pair[..<sign]), text(pair[(sign + 1)...])) else { return pair }
        return pair[...sign] + Array(value.utf8)
    }

    private static func rewriting(_ json: JSONValue, _ change: Change) -> JSONValue {
        switch json {
        case .array(let elements): return .array(elements.map { rewriting($0, change) })
        case .object(let object):
            var result = JSONValue.Object()
            for member in object.members {
                let value = change(member.key, member.value.string).map(JSONValue.string)
                result[member.key] = value ?? rewriting(member.value, change)
            }
            return .object(result)
        default: return json
        }
    }
}

extension Capture.HTTPExchange {
    /// The recorded answer; redacted values that repeat secrets sent by the host are restored from the request.
    func answering(_ request: Self) -> Self {
        guard case .answer(let status, let fields, let body) = outcome, secrets.answer != .all else { return self }
        var sent: [String: String] = [:]
        let collect: MessageBody.Change = { name, value in
            if let value, request.secrets.request.hides(name) { sent[name] = value }
            return nil
        }
        if let mark = request.url.utf8.firstIndex(of: UInt8(ascii: "?")) {
            _ = MessageBody.rewritingForm(Array(request.url.utf8[request.url.utf8.index(after: mark)...]), collect)
        }
        _ = MessageBody.rewriting(request.body ?? [], request.fields.type, collect)
        var exchange = self
        let whole = MessageBody.rewriting(body, fields.type) { name, value in value == Self.hidden ? sent[name] : nil }
        exchange.outcome = .answer(status: status, fields: fields, body: whole ?? body)
        return exchange
    }
}
