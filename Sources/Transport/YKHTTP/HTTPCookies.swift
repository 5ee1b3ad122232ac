// SPDX-License-Identifier: Apache-2.0

/// The cookies of one operation (RFC 6265): each goes back to the host that set it and to nobody else, and all are
/// forgotten with this value.
public struct HTTPCookies: Hashable, Sendable {
    /// The most cookies that are kept.
    static let limit = 50
    /// The most bytes of a cookie's name and value.
    static let sizeLimit = 4096

    private struct Cookie: Hashable, Sendable {
        let name: String
        let value: String
        let host: String
        let path: String
        let needsSeal: Bool

        func goes(to url: HTTPURL) -> Bool {
            let target = url.target.prefix { $0 != "?" }
            let isBelow = target == path || target.hasPrefix(path.hasSuffix("/") ? path : path + "/")
            return host == url.host && isBelow && (!needsSeal || url.isSealed || url.isLocal)
        }
    }

    private var cookies: [Cookie] = []

    /// Begins without any.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool { cookies.isEmpty }

    /// Keeps what an answer sets, and forgets what it takes back.
    public mutating func take(_ response: HTTPResponse, from url: HTTPURL) {
        for line in response.fields.values(of: "Set-Cookie") { take(line, url) }
    }

    /// What is sent with a request there; `nil` when there is nothing to send.
    public func field(for url: HTTPURL) -> HTTPField? {
        let pairs = cookies.filter { $0.goes(to: url) }.map { "\($0.name)=\($0.value)" }
        return pairs.isEmpty ? nil : HTTPField("Cookie", pairs.joined(separator: "; "))
    }

    private mutating func take(_ line: String, _ url: HTTPURL) {
        let parts = line.split(separator: ";", omittingEmptySubsequences: false).map { part in
            part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.stripped)
        }
        guard let pair = parts.first, pair.count == 2, !pair[0].isEmpty else { return }
        guard pair[0].utf8.count + pair[1].utf8.count <= Self.sizeLimit else { return }
        func attribute(_ name: String) -> String? {
            parts.dropFirst().last { $0.first?.lowercased() == name }.map { $0.count > 1 ? $0[1] : "" }
        }
        let path = attribute("path").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? Self.folder(of: url)
        let cookie = Cookie(
            name: pair[0], value: pair[1], host: url.host, path: path, needsSeal: attribute("secure") != nil)
        cookies.removeAll { $0.name == cookie.name && $0.host == cookie.host && $0.path == cookie.path }
        let isTakenBack = attribute("max-age").flatMap { Int($0) }.map { $0 <= 0 } ?? false
        if !isTakenBack, cookies.count < Self.limit { cookies.append(cookie) }
    }

    /// Where a cookie goes when it does not say so (RFC 6265 §5.1.4).
    private static func folder(of url: HTTPURL) -> String {
        let path = url.target.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

extension Substring {
    /// Without blanks at both ends.
    fileprivate var stripped: String {
        let start = drop { $0 == " " || $0 == "\t" }
        return start.lastIndex { $0 != " " && $0 != "\t" }.map { String(start[...$0]) } ?? ""
    }
}
