// SPDX-License-Identifier: Apache-2.0

/// An HTTP response.
public struct HTTPResponse: Hashable, Sendable {
    /// The status code (RFC 9110 §15).
    public let status: Int
    /// Header fields, in order.
    public let fields: [HTTPField]
    /// The body as received.
    public let body: [UInt8]
    /// The cookies of the request and those set by the server; empty when the request had `nil`.
    public let cookies: HTTPCookies

    /// Creates a response.
    public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = [], cookies: HTTPCookies = HTTPCookies()) {
        self.status = status
        self.fields = fields
        self.body = body
        self.cookies = cookies
    }

    /// The target of a redirect, if the response is one (RFC 9110 §15.4).
    public var redirect: String? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        return fields.values(of: "Location").first ?? ""
    }

    /// The media type in lower case, without its parameters.
    public var type: String? {
        let value = fields.values(of: "Content-Type").first
        return value?.split(separator: ";").first?.lowercased().filter { $0 != " " }
    }
}

extension [HTTPField] {
    /// Parses the header of a response with lines ending in CR LF or LF (RFC 9112 §5); the status line and invalid
    /// fields are skipped.
    public init(parsing header: [UInt8]) {
        self = header.split(whereSeparator: { $0 == 0x0A }).compactMap { line in
            guard let colon = line.firstIndex(of: 0x3A), colon > line.startIndex else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let value = line[line.index(after: colon)...].trimmed
            let field = HTTPField(name, String(decoding: value, as: UTF8.self))
            return field.isSound ? field : nil
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without blanks at both ends.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        let start = drop(while: isBlank)
        return start.lastIndex { !isBlank($0) }.map { start[...$0] } ?? []
    }
}
