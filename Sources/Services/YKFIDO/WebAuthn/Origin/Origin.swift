// SPDX-License-Identifier: Apache-2.0

import YKProtocols

/// The origin of a request, as a browser writes it (HTML §7.1.1, RFC 6454): scheme, host, and a non-default port.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `https`, or `http` on localhost.
    public let scheme: String
    /// The host name, in lower case and Punycode.
    public let host: String
    /// The port, unless it is the scheme's default.
    public let port: UInt16?

    /// Parses an origin; scheme and host may be in upper case, and one trailing slash is accepted.
    ///
    /// - Throws: `origin` with the reason.
    public init(_ text: String) throws(WebAuthnError) {
        func fault(_ problem: OriginProblem) -> WebAuthnError { .origin(text, problem) }
        guard let mark = text.firstRange(of: "://") else { throw fault(.malformed("write https://host")) }
        scheme = text[..<mark.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw fault(.insecure) }
        var rest = text[mark.upperBound...]
        if rest.last == "/" { rest = rest.dropLast() }
        guard rest.first != "[" else { throw fault(.address) }
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2 else { throw fault(.malformed("more than one port")) }
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else { throw fault(.notPunycode) }
        host = name.lowercased()
        if let problem = Self.problem(host: host) { throw fault(problem) }
        guard scheme == "https" || Self.isLocal(host) else { throw fault(.insecure) }
        port = try Self.port(parts.dropFirst().first, scheme) { fault(.malformed($0)) }
    }

    /// The origin as browsers write it.
    public var description: String { "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "") }

    private static func port(
        _ text: Substring?, _ scheme: String, _ fault: (String) -> WebAuthnError
    ) throws(WebAuthnError) -> UInt16? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(text), number > 0 else {
            throw fault("the port must be a number from 1 to 65535")
        }
        return number == (scheme == "https" ? 443 : 80) ? nil : number
    }

    private static func problem(host: String) -> OriginProblem? {
        if host.isEmpty { return .malformed("the host is missing") }
        if host.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) { return .address }
        return DomainName.isValid(host) ? nil : .malformed("an origin consists only of scheme, host and port")
    }

    /// Whether a host is this computer, which needs no https (W3C Secure Contexts §3.1).
    private static func isLocal(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }

    /// Whether an origin is an application's or an extension's, such as `android:apk-key-hash:…` or
    /// `chrome-extension://…`, which names no domain.
    public static func isOfApplication(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let isScheme =
            scheme.utf8.count < text.utf8.count && scheme.first?.isLetter == true
            && scheme.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
        let isHost = scheme == "localhost" || scheme.utf8.contains(0x2E)
        return isScheme && !isHost && scheme != "https" && scheme != "http"
    }

    /// The origin in the form in which client data have it, to be compared: that of a page as browsers write it, any other
    /// as it is.
    ///
    /// - Throws: `origin` with the reason.
    public static func comparable(_ text: String) throws(WebAuthnError) -> String {
        isOfApplication(text) ? text : try Origin(text).description
    }

    /// The relying party identifier that this origin may use: the given one, otherwise the host.
    ///
    /// - Parameter list: The public suffixes.
    /// - Throws: `relyingParty` unless the identifier is the host, or a suffix of it that is a registrable domain
    ///   (HTML §7.1.1.1, WebAuthn Level 3 §5.1.3).
    public func relyingPartyID(
        _ id: String?, by list: PublicSuffixList = .newest
    ) throws(WebAuthnError) -> String {
        guard let id, id != host else { return host }
        func fault(_ problem: RelyingPartyProblem) -> WebAuthnError {
            .relyingParty(id: id, origin: description, problem)
        }
        guard DomainName.isValid(id) else { throw fault(.notADomain) }
        guard host.hasSuffix("." + id) else { throw fault(.otherDomain) }
        let suffix = list.publicSuffix(of: host)
        guard id != suffix, !suffix.hasSuffix("." + id) else { throw fault(.publicSuffix) }
        return id
    }

    /// The relying party identifier of a payment, which any origin may use (Secure Payment Confirmation §5).
    func payeeID(_ id: String?) throws(WebAuthnError) -> String {
        guard let id, id != host else { return host }
        guard DomainName.isValid(id) else { throw .relyingParty(id: id, origin: description, .notADomain) }
        return id
    }
}
