// SPDX-License-Identifier: Apache-2.0

public import YKTransport

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
