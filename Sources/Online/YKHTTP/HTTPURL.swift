// SPDX-License-Identifier: Apache-2.0

import CCurl
public import YKTransport

/// The URL of a server: over TLS, or without it on this machine only. It is parsed by libcurl, which also connects to
/// it.
public struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
    /// Scheme, host and non-default port, in lower case.
    public let origin: String
    /// The host's name or address, in lower case.
    public let host: String
    /// Path and query, starting with a slash.
    public let target: String

    /// Parses `https://host[:port][/path][?query]`; `http` is accepted for this machine only.
    ///
    /// - Throws: `malformed` with the reason, `notInstalled` without libcurl.
    public init(_ text: String) throws(HTTPError) {
        func fault(_ reason: String) -> HTTPError { .malformed("'\(text)' is not a server's address: \(reason)") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }), text.utf8.count <= 2048 else {
            throw fault("characters outside ASCII, blanks, or too long")
        }
        guard text.contains("://") else { throw fault("write https://host/path") }
        var parts = ykit_http_parts()
        defer { ykit_http_parts_free(&parts) }
        let result = ykit_http_parse(text, &parts)
        guard result >= 0 else { throw .notInstalled }
        func part(_ start: UnsafeMutablePointer<CChar>?) -> String? { start.map { String(cString: $0) } }
        guard result == 0, let scheme = part(parts.scheme)?.lowercased(), let host = part(parts.host)?.lowercased()
        else {
            throw fault("invalid host or port")
        }
        guard scheme == "https" || scheme == "http" else { throw fault("neither https nor http") }
        guard parts.user == nil, parts.fragment == nil, !text.contains("#"), !text.contains("@") else {
            throw fault("a user name or fragment is not allowed")
        }
        let port = part(parts.port)
        // libcurl normalizes unusual forms such as 127.1, 0x7f.1 and an empty port, and would connect to something
        // other than what was written.
        let rest = text.lowercased().dropFirst(scheme.utf8.count + 3)
        let written = rest.prefix { $0 != "/" && $0 != "?" }
        guard written == host + (port.map { ":" + $0 } ?? ""), port != "0" else { throw fault("invalid host or port") }
        guard scheme == "https" || Self.isLocal(host) else { throw fault("http is for this machine only, use https") }
        let defaultPort = scheme == "https" ? "443" : "80"
        self.host = host
        origin = "\(scheme)://\(host)" + (port.map { $0 == defaultPort ? "" : ":\($0)" } ?? "")
        target = (part(parts.path) ?? "/") + (part(parts.query).map { "?" + $0 } ?? "")
    }

    /// The URL as requested.
    public var description: String { origin + target }
    /// Whether the connection uses TLS.
    public var usesTLS: Bool { origin.hasPrefix("https:") }
    /// Whether the server is on this machine.
    public var isLocal: Bool { Self.isLocal(host) }

    /// Names and addresses of this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    private static func isLocal(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
