// SPDX-License-Identifier: Apache-2.0

/// What is asked of a server.
public struct HTTPRequest: Hashable, Sendable {
    /// What is to be done with what is there.
    public var method: HTTPMethod
    /// Where.
    public var url: HTTPURL
    /// Header fields, in order.
    public var fields: [HTTPField] = []
    /// What is sent; `nil` for nothing.
    public var body: [UInt8]?
    /// How long the whole exchange may take.
    public var timeout = Duration.seconds(30)
    /// The most bytes that are read of the answer's body.
    public var limit = 1 << 20
    /// Cookies to send, which come back with the answer; `nil` to send and keep none.
    public var cookies: HTTPCookies?
    /// Whose word is taken for who the server is.
    public var trust = HTTPTrust()
    /// What of the request and of its answer stays out of recordings.
    public var secrets = HTTPSecrets.everything

    /// Asks for what is there (GET, RFC 9110 §9.3.1).
    public init(get url: HTTPURL) { self.init(.get, url) }

    /// Sends something (POST, RFC 9110 §9.3.3).
    public init(post url: HTTPURL, _ body: [UInt8], type: String) {
        self.init(.post, url, body, type: type)
    }

    /// Asks for something to be done.
    ///
    /// - Parameters:
    ///   - body: What is sent; `nil` for nothing.
    ///   - type: The media type of what is sent.
    public init(_ method: HTTPMethod, _ url: HTTPURL, _ body: [UInt8]? = nil, type: String? = nil) {
        self.method = method
        self.url = url
        self.body = body
        fields = type.map { [HTTPField("Content-Type", $0)] } ?? []
    }
}

/// What a request asks for (RFC 9110 §9.3, RFC 5789).
public enum HTTPMethod: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
}

/// A line of a header (RFC 9110 §5).
public struct HTTPField: Hashable, Sendable {
    /// The name as it is written; it is the same in any case of letters.
    public let name: String
    /// The value without blanks around it.
    public let value: String

    /// Makes a line.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether it can be sent: neither part can end the line.
    var isSound: Bool {
        let isName = name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x3A }
        return isName && !name.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension [HTTPField] {
    /// The values of all lines with this name.
    public func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return filter { $0.name.lowercased() == wanted }.map(\.value)
    }
}
