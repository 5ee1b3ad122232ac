// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A request that a server received.
public struct IncomingRequest: Hashable, Sendable {
    /// GET or POST.
    public let method: HTTPMethod
    /// The request target as the client wrote it: a path, perhaps with a query.
    public let target: String
    /// Header fields, in order.
    public let fields: [HTTPField]
    /// The body; may be empty.
    public let body: [UInt8]

    /// The value of a field that a client may send once only; `nil` when it is missing or repeated.
    public func value(of name: String) -> String? {
        let values = fields.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The value of a cookie (RFC 6265 §4.2); `nil` when it is missing or repeated.
    public func cookie(_ name: String) -> String? {
        let pairs = fields.values(of: "Cookie").flatMap { $0.split(separator: ";") }
        let found = pairs.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix(name + "=") }
        return found.count == 1 ? String(found[0].dropFirst(name.count + 1)) : nil
    }
}

/// Assembles a request from the bytes received so far (RFC 9112).
///
/// Only GET, and POST with a body of known length, are accepted.
public struct IncomingRequestReader: Sendable {
    /// The state after adding some bytes.
    public enum Step: Hashable, Sendable {
        /// The request is incomplete.
        case more
        /// The request is complete.
        case complete(IncomingRequest)
        /// The request is refused with this status code.
        case refused(Int)
    }

    /// The maximum size of the request line and header fields, in bytes.
    public static let headerLimit = 8 << 10
    /// The maximum size of the body, in bytes.
    public static let bodyLimit = 64 << 10

    private var bytes: [UInt8] = []
    private var header: Header?

    /// The request line and the header fields, and where the body is.
    private struct Header {
        let method: HTTPMethod
        let target: String
        let fields: [HTTPField]
        let start: Int
        let count: Int
    }

    /// Creates an empty request.
    public init() {}

    /// Adds received bytes; may be called again only after `more`.
    public mutating func take(_ more: some Collection<UInt8>) -> Step {
        let searched = max(0, bytes.count - 3)
        bytes += more
        if header == nil {
            guard let end = headerEnd(from: searched) else {
                return bytes.count > Self.headerLimit ? .refused(431) : .more
            }
            guard end <= Self.headerLimit else { return .refused(431) }
            switch Self.read(Array(bytes[..<end])) {
            case .failure(let refusal): return .refused(refusal.status)
            case .success(let found): header = found
            }
        }
        guard let header, bytes.count - header.start >= header.count else { return .more }
        let body = Array(bytes[header.start..<(header.start + header.count)])
        return .complete(
            IncomingRequest(method: header.method, target: header.target, fields: header.fields, body: body))
    }

    private struct Refusal: Error { let status: Int }

    /// The end of the empty line after the header.
    private func headerEnd(from start: Int) -> Int? {
        var index = start
        while index + 3 < bytes.count {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D, bytes[index + 3] == 0x0A {
                return index + 4
            }
            index += 1
        }
        return nil
    }

    private static func read(_ header: [UInt8]) -> Result<Header, Refusal> {
        let line = header.prefix { $0 != 0x0D }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, words[1].first == UInt8(ascii: "/"), words[2].starts(with: Array("HTTP/1.".utf8)),
            words[1].allSatisfy({ (0x21...0x7E).contains($0) })
        else { return .failure(Refusal(status: 400)) }
        guard let method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self)),
            method == .get || method == .post
        else { return .failure(Refusal(status: 405)) }
        let fields = [HTTPField](parsing: Array(header.dropFirst(line.count)))
        return length(fields, method).map { count in
            Header(
                method: method, target: String(decoding: words[1], as: UTF8.self), fields: fields, start: header.count,
                count: count)
        }
    }

    /// The body size according to the header.
    private static func length(_ fields: [HTTPField], _ method: HTTPMethod) -> Result<Int, Refusal> {
        guard fields.values(of: "Transfer-Encoding").isEmpty else { return .failure(Refusal(status: 501)) }
        let lengths = Set(fields.values(of: "Content-Length"))
        guard let text = lengths.first else {
            return method == .get ? .success(0) : .failure(Refusal(status: 411))
        }
        guard lengths.count == 1, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .failure(Refusal(status: 400))
        }
        // A number with too many digits for an integer is also too large.
        guard let count = Int(text), count <= bodyLimit else {
            return .failure(Refusal(status: text.isEmpty ? 400 : 413))
        }
        return .success(count)
    }
}
