// SPDX-License-Identifier: Apache-2.0

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
