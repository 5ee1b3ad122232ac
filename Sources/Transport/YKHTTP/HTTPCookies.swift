// SPDX-License-Identifier: Apache-2.0

/// The cookies of one operation (RFC 6265), as libcurl's cookie engine keeps and sends them. They come with the answer to
/// a request that had some, even if empty, go into the next one, and are forgotten with this value.
public struct HTTPCookies: Hashable, Sendable {
    /// Maximum number of cookies.
    static let limit = 50

    /// Lines in the format of cookie files.
    let lines: [String]

    /// Begins without any.
    public init() { lines = [] }

    /// Whether there are none.
    public var isEmpty: Bool { lines.isEmpty }

    /// Takes lines in the format of cookie files: domain, whether it has subdomains, path, whether TLS is needed, expiry
    /// in seconds since 1970, name and value, separated by tabs.
    package init(lines: [String]) { self.lines = Array(lines.prefix(Self.limit)) }
}
