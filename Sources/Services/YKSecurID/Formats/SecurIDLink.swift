// SPDX-License-Identifier: Apache-2.0

import YKWire

/// A URL in one of the forms that token apps register.
public struct SecurIDLink: Hashable, Sendable {
    /// The content of a link.
    public enum Kind: String, Sendable {
        /// A token string (`ctfData`).
        case ctf
        /// A CT-KIP server (`url`).
        case ctkip
    }

    /// The content of the link.
    public let kind: Kind
    /// The scheme, in lower case.
    public let scheme: String

    /// Recognizes `SCHEME://ctf?ctfData=…` and `SCHEME://ctkip?url=…`, and the Android form
    /// `http://127.0.0.1/securid/…`; `nil` for anything else. Newer servers name a CT-KIP service in a link of the path
    /// `ctf`, with `url` instead of `ctfData`.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - wanted: The required scheme; `nil` for any.
    public init?(_ text: String, scheme wanted: String? = nil) {
        guard let url = URLText(text) else { return nil }
        if let wanted, wanted.lowercased() != url.scheme { return nil }
        scheme = url.scheme
        let place = url.place.hasSuffix("/") ? String(url.place.dropLast()) : url.place
        switch place {
        case "ctf", "127.0.0.1/securid/ctf":
            if let data = url.query["ctfdata"], !data.isEmpty {
                kind = .ctf
            } else {
                guard let server = url.query["url"], !server.isEmpty else { return nil }
                kind = .ctkip
            }
        case "ctkip", "127.0.0.1/securid/ctkip":
            guard let server = url.query["url"], !server.isEmpty else { return nil }
            kind = .ctkip
        default: return nil
        }
    }
}

/// The parts of a URL: scheme, host with path, and query.
struct URLText {
    let scheme: String
    /// Host and path, in lower case.
    let place: String
    /// The percent-decoded values, keyed by their names in lower case.
    let query: [String: String]

    init?(_ text: String) {
        guard let mark = text.utf8.firstRange(of: "://".utf8) else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard !scheme.isEmpty, scheme.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == 0x2E || $0 == 0x2B || $0 == 0x2D })
        else { return nil }
        self.scheme = scheme.lowercased()
        let parts = text[mark.upperBound...].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        place = (parts.first ?? "").lowercased()
        var query: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let value = PercentEncoding.decode(halves[1]) else { continue }
            let name = halves[0].lowercased()
            if query[name] == nil { query[name] = value }
        }
        self.query = query
    }

    /// Percent-encodes base64 for a URL.
    static func encoded(_ base64: String) -> String {
        base64.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}

extension SecurIDLink {
    /// Returns the URL of a token string for an app that registers `scheme`; `http` gives the Android form.
    public static func text(ctf: String, scheme: String) -> String {
        let data = URLText.encoded(ctf)
        return scheme == "http" ? "http://127.0.0.1/securid/ctf?ctfData=\(data)" : "\(scheme)://ctf?ctfData=\(data)"
    }
}
