// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// An HTTP request.
public struct HTTPRequest: Hashable, Sendable {
    /// The method.
    public var method: HTTPMethod
    /// The URL.
    public var url: HTTPURL
    /// Header fields, in order.
    public var fields: [HTTPField] = []
    /// The body; `nil` for none.
    public var body: [UInt8]?
    /// The timeout for the whole exchange.
    public var timeout = Duration.seconds(30)
    /// The maximum size of the response body, in bytes.
    public var limit = 1 << 20
    /// Cookies to send, which the response returns updated; `nil` to send and store none.
    public var cookies: HTTPCookies?
    /// How the server is authenticated.
    public var trust = HTTPTrust()
    /// The parts of the request and its response that are left out of recordings.
    public var secrets = HTTPSecrets.everything

    /// Creates a GET request (RFC 9110 §9.3.1).
    public init(get url: HTTPURL) { self.init(.get, url) }

    /// Creates a POST request (RFC 9110 §9.3.3).
    public init(post url: HTTPURL, _ body: [UInt8], type: String) {
        self.init(.post, url, body, type: type)
    }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - body: The body; `nil` for none.
    ///   - type: The media type of the body.
    public init(_ method: HTTPMethod, _ url: HTTPURL, _ body: [UInt8]? = nil, type: String? = nil) {
        self.method = method
        self.url = url
        self.body = body
        fields = type.map { [HTTPField("Content-Type", $0)] } ?? []
    }
}

/// A request method (RFC 9110 §9.3, RFC 5789).
public enum HTTPMethod: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}
