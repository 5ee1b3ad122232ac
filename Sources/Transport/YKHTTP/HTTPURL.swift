// SPDX-License-Identifier: Apache-2.0

/// Where a server is: over TLS, or without it on this machine only.
public struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
    /// Scheme, host and a port that is not the scheme's own, in small letters.
    public let origin: String
    /// The host's name or address, in small letters.
    public let host: String
    /// Path and query, with the slash that they begin with.
    public let target: String

    /// Reads `https://host[:port][/path][?query]`; `http` is taken for this machine alone.
    ///
    /// Throws `malformed` with the reason.
    public init(_ text: String) throws(HTTPError) {
        func fault(_ reason: String) -> HTTPError { .malformed("'\(text)' is no address of a server: \(reason)") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x5C }), text.utf8.count <= 2048 else {
            throw fault("letters outside ASCII, blanks, or too long")
        }
        guard let mark = text.firstRange(of: "://") else { throw fault("write https://host/path") }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw fault("neither https nor http") }
        let rest = text[mark.upperBound...]
        guard !rest.contains("#"), !rest.contains("@") else { throw fault("it has a part that is not for servers") }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<end].lowercased()) else { throw fault("host or port is none") }
        guard scheme == "https" || Self.isLocal(host) else { throw fault("http is for this machine only, use https") }
        let usual: UInt16 = scheme == "https" ? 443 : 80
        self.host = host
        origin = "\(scheme)://\(host)" + (port.map { $0 == usual ? "" : ":\($0)" } ?? "")
        target = rest[end...].first == "/" ? String(rest[end...]) : "/" + rest[end...]
    }

    /// The address as it is asked for.
    public var description: String { origin + target }
    /// Whether what is sent is sealed.
    public var isSealed: Bool { origin.hasPrefix("https:") }
    /// Whether the server is on this machine.
    public var isLocal: Bool { Self.isLocal(host) }

    private static func authority(_ text: String) -> (host: String, port: UInt16?)? {
        var host = text
        var port: UInt16?
        if let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let digits = text[text.index(after: colon)...]
            guard let number = UInt16(digits), number > 0, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            port = number
            host = String(text[..<colon])
        }
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        let name = isAddress ? host.dropFirst().dropLast() : host[...]
        let isSound = name.utf8.allSatisfy { byte in
            isAddress
                ? (0x30...0x3A).contains(byte) || (0x61...0x66).contains(byte)
                : (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
        }
        return isSound && !name.isEmpty && name.utf8.count <= 253 ? (host, port) : nil
    }

    /// Names and addresses of this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3, RFC 4291 §2.5.3).
    private static func isLocal(_ host: String) -> Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
