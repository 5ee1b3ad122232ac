// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
import YKWire
import YKX509

/// An HTTP client. Services take one as a parameter, so that they can run without a network.
public protocol HTTPClient: Sendable {
    /// Sends a request and reads the whole response, whatever its status; redirects are never followed.
    ///
    /// - Throws: `redirected`, `tooLarge`, `timedOut`, `certificate` and others.
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse
}

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

/// How a server is authenticated over TLS.
public struct HTTPTrust: Hashable, Sendable {
    /// A PEM file of authorities to trust instead of the system's.
    public var authorities: String?
    /// The accepted public keys of the server; empty to accept any key that an authority certifies.
    public var pins: [HTTPPin]
    /// Whether the server's certificate is verified. If not, only a pin authenticates the server.
    public var verifiesCertificate = true

    /// Trusts the system's authorities, or those in a file; with pins, the server must also have one of these keys.
    public init(authorities: String? = nil, pins: [HTTPPin] = []) {
        self.authorities = authorities
        self.pins = pins
    }
}

extension HTTPPin {
    /// The pin of the key in a certificate; `nil` when the text is not a certificate.
    init?(pem: String) {
        guard let der = PEM.contents("CERTIFICATE", in: Array(pem.utf8)).first,
            let certificate = try? X509Certificate(der: der)
        else { return nil }
        self.init(hash: HashAlgorithm.sha256.hash(certificate.subjectPublicKeyInfo.encoded))
    }
}

/// The cookies of one operation (RFC 6265), stored and sent by libcurl's cookie engine. The response to a request with
/// cookies, even an empty set, contains the cookies for the next request. They are discarded with this value.
public struct HTTPCookies: Hashable, Sendable {
    /// Maximum number of cookies.
    static let limit = 50

    /// Lines in the cookie file format.
    let lines: [String]

    /// Creates an empty set.
    public init() { lines = [] }

    /// Whether there are no cookies.
    public var isEmpty: Bool { lines.isEmpty }

    /// Wraps lines in the cookie file format: domain, whether it includes subdomains, path, whether TLS is required,
    /// expiry in seconds since 1970, name and value, separated by tabs.
    package init(lines: [String]) { self.lines = Array(lines.prefix(Self.limit)) }
}

/// Why a server's service gave no usable answer.
public enum ServerError: Error, Hashable, Sendable {
    /// The request failed, or was not answered.
    case http(HTTPError)
    /// The server refused the request, with its own error number and text.
    case refused(status: Int, code: Int, message: String)
    /// The server answered with an HTTP status but no reason, such as an error page of a proxy.
    case status(Int)
    /// The answer is not valid, for the given reason.
    case malformed(String)
    /// The answer is not signed by the server's key, or belongs to another request.
    case signature
    /// The system provided no random bytes for the request.
    case random

    /// The server's own text for a refusal; `nil` for everything else.
    public var message: String? { if case .refused(_, _, let message) = self { message } else { nil } }
}
