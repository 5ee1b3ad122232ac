// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
import YKTransport
public import YKWire

/// An answer of a privacyIDEA server whose `result.status` is true. Unknown members are ignored.
public struct PrivacyIDEAAnswer: Hashable, Sendable {
    /// The result of an authentication.
    public struct Authentication: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Authenticated.
        public static let accept = Authentication(rawValue: "ACCEPT")
        /// Not authenticated.
        public static let reject = Authentication(rawValue: "REJECT")
        /// A challenge must be answered.
        public static let challenge = Authentication(rawValue: "CHALLENGE")
        /// The user declined.
        public static let declined = Authentication(rawValue: "DECLINED")
    }

    /// `result.value`, `null` when absent.
    public let value: JSONValue
    /// `result.authentication`, only in answers of `/validate` and `/auth`.
    public let authentication: Authentication?
    /// `detail`, `null` when absent.
    public let detail: JSONValue
    /// The whole object, for members other than `result` and `detail`.
    public let envelope: JSONValue
    /// `time`: the server's clock, in whole seconds since 1970-01-01 00:00 UTC.
    public let time: Int64?
    /// The header field `Date` (RFC 9110 §6.6.1), in seconds since 1970-01-01 00:00 UTC.
    public let date: Int64?
    /// The cookies that the server set, by name.
    public let cookies: [String: String]

    /// The message for the user in `detail.message`, not sanitized.
    public var message: String? { detail["message"]?.string }
    /// `detail.transaction_id`.
    public var transactionID: String? { detail["transaction_id"]?.string }
    /// `detail.serial`.
    public var serial: String? { detail["serial"]?.string }

    /// Reads an answer.
    ///
    /// - Parameters:
    ///   - auditKey: The key that must verify the signature; `nil` to skip the check.
    ///   - nonce: The request's nonce, which a signed answer must repeat.
    /// - Throws: `refused` if `result.status` is false, `status`, `malformed` or `signature`.
    public init(
        _ response: HTTPResponse, auditKey: PublicKey? = nil, nonce: String? = nil
    ) throws(ServerError) {
        let envelope = try Self.json(response)
        guard let result = envelope["result"], let isDone = result["status"]?.bool else {
            // A proxy in front of the server may answer with JSON of its own.
            guard response.isSuccess else { throw .status(response.status) }
            throw .malformed("the answer has no result")
        }
        if let auditKey {
            guard envelope["nonce"]?.string == nonce, Self.isSigned(envelope, by: auditKey) else { throw .signature }
        }
        guard isDone else {
            guard let error = result["error"], let code = error["code"]?.int.flatMap(Int.init(exactly:)) else {
                throw .malformed("the refusal has no error code")
            }
            throw .refused(status: response.status, code: code, message: error["message"]?.string ?? "")
        }
        guard response.isSuccess else { throw .status(response.status) }
        self.envelope = envelope
        value = result["value"] ?? .null
        authentication = result["authentication"]?.string.map(Authentication.init)
        detail = envelope["detail"] ?? .null
        time = envelope["time"]?.number.flatMap { Int64(exactly: $0.rounded(.down)) }
        date = response.date
        cookies = Self.cookies(response.fields)
    }

    private static func json(_ response: HTTPResponse) throws(ServerError) -> JSONValue {
        guard response.type == "application/json" else {
            guard response.isSuccess else { throw .status(response.status) }
            throw .malformed("the answer is \(response.type ?? "of no type"), not JSON")
        }
        do { return try JSONValue(parsing: response.body) } catch {
            guard response.isSuccess else { throw .status(response.status) }
            throw .malformed("\(error)")
        }
    }

    /// Verifies RSA-PSS with SHA-256 over the object without its signature, as written by Python's
    /// `json.dumps(sort_keys=True)`.
    private static func isSigned(_ envelope: JSONValue, by key: PublicKey) -> Bool {
        let mark = "rsa_sha256_pss:"
        guard var object = envelope.object, let text = object["signature"]?.string, text.hasPrefix(mark),
            let signature = try? Hex.decode(String(text.dropFirst(mark.count)))
        else { return false }
        object["signature"] = nil
        return key.isValid(signature, for: JSONValue.object(object).pythonText, .sha256, .pss)
    }

    /// Returns the names and values of cookies (RFC 6265 §4.1.1), without their attributes.
    private static func cookies(_ fields: [HTTPField]) -> [String: String] {
        var cookies: [String: String] = [:]
        for line in fields.values(of: "Set-Cookie") {
            let pair = line.prefix { $0 != ";" }
            guard let equals = pair.firstIndex(of: "=") else { continue }
            cookies[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
        return cookies
    }
}

extension HTTPResponse {
    /// Whether the status reports success (RFC 9110 §15.3).
    fileprivate var isSuccess: Bool { (200...299).contains(status) }
}

/// The time formats used by the server.
enum ServerTime {
    /// Reads `2026-11-22 04:14:55.228658` (UTC), the same with `T` and a zero offset, or an IMF-fixdate.
    ///
    /// - Returns: Whole seconds since 1970-01-01 00:00 UTC; `nil` for anything else.
    static func seconds(_ json: JSONValue?) -> Int64? {
        guard let text = json?.string else { return nil }
        if let seconds = HTTPDate.seconds(text) { return seconds }
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[10] == 0x20 || bytes[10] == 0x54, bytes[13] == 0x3A, bytes[16] == 0x3A,
            let date = UTCDate(String(decoding: bytes[..<10], as: UTF8.self)), let hour = number(bytes[11..<13]),
            let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]), hour < 24, minute < 60,
            second < 61
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop { (0x30...0x39).contains($0) } }
        guard ["", "Z", "+00:00", "+0000"].contains(String(decoding: rest, as: UTF8.self)) else { return nil }
        return date.seconds + Int64(hour * 3600 + minute * 60 + second)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self))
    }
}

extension JSONValue {
    /// The integer, if it fits in an `Int`.
    var count: Int? { int.flatMap { Int(exactly: $0) } }
    /// The string, if it is not empty.
    var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }

    /// The value as Python's `json.dumps(value, sort_keys=True)` writes it: members sorted by code point, separated by
    /// `", "` and `": "`, and non-ASCII characters written as `\u` with UTF-16 code units.
    package var pythonText: [UInt8] {
        var out: [UInt8] = []
        writePython(to: &out)
        return out
    }

    private func writePython(to out: inout [UInt8]) {
        switch self {
        case .string(let text): Self.writePython(text, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out += ", ".utf8 }
                element.writePython(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let object):
            out.append(UInt8(ascii: "{"))
            // UTF-8 sorts in code point order.
            let members = object.members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (index, member) in members.enumerated() {
                if index > 0 { out += ", ".utf8 }
                Self.writePython(member.key, to: &out)
                out += ": ".utf8
                member.value.writePython(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        default: out += text.utf8
        }
    }

    private static func writePython(_ text: String, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: out += [0x5C, UInt8(unit)]
            case 0x08: out += "\\b".utf8
            case 0x09: out += "\\t".utf8
            case 0x0A: out += "\\n".utf8
            case 0x0C: out += "\\f".utf8
            case 0x0D: out += "\\r".utf8
            case 0x20...0x7E: out.append(UInt8(unit))
            default: out += ("\\u" + Hex.encode([UInt8(unit >> 8), UInt8(truncatingIfNeeded: unit)])).utf8
            }
        }
        out.append(UInt8(ascii: "\""))
    }
}
